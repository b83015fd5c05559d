"""First program inside the sandbox: set limits, give up rights, become the program that is to be limited.

    python confine.py '{"memory": 4e9, "file": 6e7, "processes": 256, "seconds": 120, "user": 61234,
        "folder": "/tmp/dlk-1", "filter": true, "group": "/sys/fs/cgroup/.../cgroup.procs"}' program arguments...

"parent" is the process that must still be there when this one starts. With nothing but "parent" it only ties
the two together, which closes the moment in which a killed grader would leave its sandbox behind.

Uses the standard library only and is run as a file, so that nothing of the course is imported twice.
"""

import contextlib
import json
import os
import sys


def main(wish, *command):
    wish = json.loads(wish)
    if wish.get("group"):
        join_group(wish["group"])
    limit(wish)
    if wish.get("parent", os.getppid()) != os.getppid():
        sys.exit("the grader ended before this began")
    os.environ.pop("JPY_PARENT_PID", None)  # in a namespace of processes the parent always seems to be gone
    os.execv(command[0], command)


def join_group(group):
    """Enter a control group, named by its file cgroup.procs, where it lets us."""
    with contextlib.suppress(OSError), open(group, "w") as file:
        file.write(str(os.getpid()))


def limit(wish):
    """Limit this process, and whatever it becomes."""
    try:
        import resource
    except ImportError:  # Windows
        resource = None
    if resource:
        for name, key in (("AS", "memory"), ("FSIZE", "file"), ("NPROC", "processes"), ("CPU", "seconds")):
            _limit(resource, getattr(resource, f"RLIMIT_{name}", None), wish.get(key))
        _limit(resource, resource.RLIMIT_CORE, 0)
    if wish.get("user"):
        os.setgroups([])
        os.setgid(wish["user"])
        os.setuid(wish["user"])
    if "folder" in wish:
        os.chdir(wish["folder"])
        os.umask(0o077)
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG: end when the grader ends
    if wish.get("filter"):
        _filter()


# What no answer needs: namespaces and mounts, other processes' memory, the kernel's programs and keys, memory that
# belongs to no process.
_REFUSED = (
    "unshare setns mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount mount_setattr ptrace "
    "process_vm_readv process_vm_writev kcmp pidfd_getfd bpf perf_event_open userfaultfd io_uring_setup io_uring_enter "
    "io_uring_register keyctl add_key request_key init_module finit_module delete_module kexec_load kexec_file_load "
    "open_by_handle_at name_to_handle_at quotactl swapon swapoff reboot acct settimeofday clock_settime adjtimex "
    "memfd_create memfd_secret shmget msgget semget vmsplice"
)
_ALLOW, _ERRNO, _NEW_USER = 0x7FFF0000, 0x00050000, 0x10000000


def seccomp():
    """libseccomp, or None where it is not installed."""
    import ctypes

    try:
        return ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return None


def _filter():
    """Refuse system calls by libseccomp, where it is there; bubblewrap's walls stand without it, too."""
    import ctypes
    import errno

    library = seccomp()
    if library is None:
        return

    class Compare(ctypes.Structure):
        _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))

    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))

    def refuse(name, error, *compared):
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number != -1:  # a newer kernel's
            array = (Compare * len(compared))(*compared)
            library.seccomp_rule_add_array(rules, ctypes.c_uint32(_ERRNO | error), number, len(compared), array)

    for name in _REFUSED.split():
        refuse(name, errno.EPERM)
    refuse("clone3", errno.ENOSYS)  # its flags lie in memory, where no filter looks; libc then calls clone
    refuse("clone", errno.EPERM, Compare(0, 7, _NEW_USER, _NEW_USER))  # 7: equal under a mask
    if library.seccomp_load(rules) != 0:
        sys.stderr.write("the filter of system calls was not loaded\n")
    library.seccomp_release(rules)


def _limit(resource, which, value):
    if which is None or value is None:
        return
    hard = resource.getrlimit(which)[1]
    value = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some of them
        resource.setrlimit(which, (value, value))


if __name__ == "__main__":
    main(*sys.argv[1:])
