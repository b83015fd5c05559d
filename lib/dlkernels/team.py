"""A team of threads for kernels in a process that others use too: who comes late costs nothing.

    @njit
    def part(arguments, task, who):                           # one piece of the work; `who` < threads
        ...

    @njit
    def kernel(x, out, tasks, threads, team):
        share(part, (x, out), tasks, threads, 0, team)        # tasks 0 ... tasks - 1

    kernel(x, out, 8, team.size(), team.members())

A parallel loop of OpenMP ends when *all* its threads have come to its end, also one that slept when the loop began and
has done nothing. Where another library has just used the cores, the system may take a time slice of several
milliseconds until it gives that thread a core. Here

- tasks lie in the open: the caller takes them from the front, the others from the back, each by one compare-and-swap.
So
  what is warm in a thread's cache goes to the same thread the next time;
- the caller returns when all tasks are *done*, not when all threads have come: who wakes late finds nothing, and sleeps
on;
- who has nothing to do looks for work for a moment, then sleeps in the operating system and takes no time from others;
- to wake a thread costs its caller microseconds (tens of them in a virtual machine): it is measured, and the bell is
rung
  only for work that is worth many times as much.

oneTBB, too, does not wait for threads that never came (its documentation, "Task Scheduler": the calling thread takes
part and leaves when the work is done); numba can run on it where its library is installed and found.

The team exists on Linux, with two threads or more, unless NUMBA_THREADING_LAYER is set: who sets it wants that layer.
Elsewhere `members()` is a `Layer`, and `share` is a loop over numba's threads that take tasks from a common counter.

A part must not raise (its exception would be lost). A `share` within a task, or at the same time as another one of the
same process, is done by its caller alone. So nothing here is entered twice: numba's workqueue layer ends the process
when two threads are in it. It does so still for a `parallel=True` function of your own that runs beside ours.
"""

import atexit
import functools
import os
import platform
import sys
import threading
from collections import namedtuple
from tracemalloc import is_tracing

import numpy as np
from llvmlite import ir
from numba import config, get_num_threads, prange, types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload
from numba.np.ufunc import parallel

from .simd.atomic import atomic_load, compare_and_swap, fetch_add
from .simd.cache import cached_njit
from .simd.emitted import emitted
from .simd.inner import INNER, inner_njit

# Words of the team's memory, each on a cache line of its own (and its neighbour, which is fetched along).
LINE = 16
TICKET = 0 * LINE  # helpers << 48 | first << 24 | last: how many may help, and the tasks that nobody has begun
DONE = 1 * LINE  # tasks that are finished
BUSY = 2 * LINE  # 1: a caller has the team
ASLEEP = 3 * LINE  # threads that sleep, or are about to
BELL = 4 * LINE  # counted up to wake them: the word on which they sleep
TASK, ARGUMENTS = 5 * LINE, 5 * LINE + 1  # addresses: what is to be done
ALONE, PRICE = (
    5 * LINE + 2,
    5 * LINE + 3,
)  # ns that callers worked without help, since the bell was rung; what ringing costs
STOP, RUNG = 6 * LINE, 6 * LINE + 1  # 1: the process ends; 1: the bell was rung, and nobody has come yet
LEAD = 5 * LINE + 4  # the address of `_lead`
ALLOWED = 7 * LINE  # the processors that this process may use, a bit for each of the first 1024
PLACES = 8 * LINE  # for each helper: the processor it was last seen on, its thread number
PLACE = 2  # words of a place
AWAY = -2  # instead of a processor: the helper was sent away from that of the caller
MOST_TASKS = (1 << 24) - 1
PROCESSORS = 64 * LINE  # those that have a bit in ALLOWED; helpers are not sent away from others

Layer = namedtuple("Layer", "words")  # numba's threads: words[BUSY] as in the team's memory, words[DONE] are begun

# ns that a thread without work looks for some before it sleeps: longer than Python takes between two calls after a
# kernel that filled the caches, 50 to 100 us, and the rest of a task that the caller works on
SPIN = 200_000
WORTH = 16  # the bell is rung when callers have worked alone for this many times its price
PATIENCE = 100  # looks for the end of the others' tasks before the caller offers them its core

GET_TID, SET_AFFINITY = {"x86_64": (186, 203), "aarch64": (178, 122)}.get(platform.machine(), (0, 0))
_SYSTEM_CALL = {"x86_64": 202, "aarch64": 98}.get(platform.machine()) if sys.platform == "linux" else None
FUTEX = _SYSTEM_CALL or 0
WAIT, WAKE = 128, 129  # FUTEX_WAIT and FUTEX_WAKE for a word that one process uses (linux/futex.h)
_system_call = types.ExternalFunction("syscall", types.intp(*[types.intp] * 7))
_yield_core = types.ExternalFunction("sched_yield", types.int32())
_processor = types.ExternalFunction("sched_getcpu", types.int32())


# ---- a task as numbers -------------------------------------------------------------------------------------


def _unowned(context, builder, kind, value):
    """LLVM: arguments of tasks whose arrays count no references: the caller's do. Threads that take parts of one array
    would all count in the same word, and wait for each other at each."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo, array.parent = (ir.Constant(pointer.type, None) for pointer in (array.meminfo, array.parent))
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for k, member in enumerate(kind):
            inner = _unowned(context, builder, member, builder.extract_value(value, k))
            value = builder.insert_value(value, inner, k)
    return value


def _task_of(context, builder, part, arguments, values):
    """LLVM: (address of a function that runs a task, address of the arguments), valid until the caller's frame ends."""
    signature = _call_of(context.typing_context, part, arguments)
    word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    compiled = part.dispatcher.overloads[signature.args]
    context.add_linking_libs([compiled.library])
    kind = context.get_value_type(arguments)
    with builder.goto_entry_block():
        buffer = builder.alloca(kind)
    builder.store(_unowned(context, builder, arguments, values), buffer)
    name = builder.module.get_unique_name("task")
    task = ir.Function(builder.module, ir.FunctionType(ir.VoidType(), [pointer, word, word]), name)
    task.linkage = "internal"
    inner = ir.IRBuilder(task.append_basic_block())
    task_arguments = [inner.load(inner.bitcast(task.args[0], kind.as_pointer())), *task.args[1:]]
    function = context.declare_function(builder.module, compiled.fndesc)
    context.call_conv.call_function(inner, function, signature.return_type, signature.args, task_arguments)
    inner.ret_void()
    return builder.ptrtoint(task, word), builder.ptrtoint(buffer, word)


def _call_of(typingctx, part, arguments):
    """The signature of `part` when it runs a task."""
    return part.get_call_type(typingctx, (arguments, types.int64, types.int64), {})


@intrinsic
def _as_numbers(typingctx, part, arguments):
    """The two addresses of `_task_of`."""
    _call_of(typingctx, part, arguments)

    def emit(context, builder, signature, values):
        addresses = _task_of(context, builder, part, arguments, values[1])
        return context.make_tuple(builder, signature.return_type, addresses)

    return types.UniTuple(types.int64, 2)(part, arguments), emit


@intrinsic
def _run(typingctx, task, arguments, number, who):
    """Run task `number`, given by `_as_numbers`."""
    word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()

    def emit(context, builder, _, values):
        kind = ir.FunctionType(ir.VoidType(), [pointer, word, word])
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [builder.inttoptr(values[1], pointer), values[2], values[3]])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


@intrinsic
def _pause(typingctx):
    """Tell the core that this loop waits."""

    def emit(context, builder, *_):
        machine = platform.machine().lower()
        if machine in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", fnty=kind), [])
        elif machine in ("aarch64", "arm64"):
            kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)])
            builder.call(builder.module.declare_intrinsic("llvm.aarch64.hint", fnty=kind), [ir.IntType(32)(1)])
        return context.get_dummy_value()

    return types.void(), emit


# ---- taking tasks ------------------------------------------------------------------------------------------


@inner_njit()
def _begun(ticket):
    """(first, last) of the tasks in a ticket."""
    return ticket >> 24 & MOST_TASKS, ticket & MOST_TASKS


@inner_njit()
def _take_first(team):
    """A task for the caller, or -1."""
    while True:
        ticket = atomic_load(team, TICKET)
        first, last = _begun(ticket)
        if first >= last:
            return -1
        if compare_and_swap(team, TICKET, ticket, ticket + (1 << 24)):
            return first


@inner_njit()
def _take_last(team, who):
    """A task for helper `who`, or -1."""
    while True:
        ticket = atomic_load(team, TICKET)
        first, last = _begun(ticket)
        if first >= last or ticket >> 48 < who:
            return -1
        if compare_and_swap(team, TICKET, ticket, ticket - 1):
            return last - 1


@inner_njit()
def _wake(team, count):
    _system_call(FUTEX, team.ctypes.data + 8 * BELL, WAKE, count, 0, 0, 0)


@intrinsic
def _now(typingctx):
    """Nanoseconds of a clock that only goes forward.

    In memory of the stack: an array would be Python's memory, and `tracemalloc.stop()` before Python 3.12.9 may end the
    process while another thread, which looks for work, asks for such (CPython's issue 128679).
    """
    number, word, monotonic = ir.IntType(32), ir.IntType(64), 1

    def emit(context, builder, *_):
        time = cgutils.alloca_once(builder, ir.ArrayType(word, 2))  # struct timespec: seconds, nanoseconds
        kind = ir.FunctionType(number, [number, time.type])
        clock = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(clock, [number(monotonic), time])
        seconds, rest = (builder.load(cgutils.gep_inbounds(builder, time, 0, k)) for k in (0, 1))
        return builder.add(builder.mul(seconds, word(1_000_000_000)), rest)

    return types.int64(), emit


@inner_njit()
def _learnt(price, cost):
    """The price of ringing after one more ring. One that the system interrupted, by milliseconds, changes it little."""
    return price + (min(cost, 4 * price + 1000) - price) // 4


@inner_njit()
def _ring(team, helpers):
    """Wake helpers, and remember what it cost."""
    before = _now()
    _make_room(team, helpers)
    team[ALONE], team[RUNG] = 0, 1
    fetch_add(team, BELL, 1)
    _wake(team, 1 << 30 if helpers < 3 else 2)  # the others are woken by these
    after = _now()
    team[PRICE] = _learnt(team[PRICE], after - before)
    return after


@inner_njit()
def _make_room(team, helpers):
    """Send a helper that sleeps away from the core on which this thread runs, for the moment in which it is woken."""
    core = _processor()
    if not 0 <= core < PROCESSORS:
        return
    for who in range(1, helpers + 1):
        slot = PLACES + PLACE * who
        if team[slot] == core and team[slot + 1]:
            _allow(team, team[slot + 1], core)
            team[slot] = AWAY


@intrinsic
def _allowed(typingctx, team, but):
    """The address, on the stack (see `_now`), of a bit for each processor of this process `but` one (-1: of all)."""
    word = ir.IntType(64)

    def emit(context, builder, signature, values):
        data, but = context.make_array(signature.args[0])(context, builder, values[0]).data, values[1]
        mask = cgutils.alloca_once(builder, ir.ArrayType(word, 16))
        there = builder.ashr(but, word(6))
        others = builder.not_(builder.shl(word(1), builder.and_(but, word(63))))
        for k in range(16):
            bits = builder.load(builder.gep(data, [word(ALLOWED + k)]))
            bits = builder.select(builder.icmp_signed("==", there, word(k)), builder.and_(bits, others), bits)
            builder.store(bits, cgutils.gep_inbounds(builder, mask, 0, k))
        return builder.ptrtoint(mask, word)

    return types.int64(team, types.int64), emit


@inner_njit()
def _allow(team, thread, but):
    """Let a thread run on all processors of this process `but` one (-1: on all)."""
    _system_call(SET_AFFINITY, thread, 128, _allowed(team, but), 0, 0, 0)


LEAD_TYPES = *[types.int64] * 5, types.Array(types.int64, 1, "C")


@cached_njit(nogil=True)
def _lead(task, arguments, tasks, threads, least, team):
    """The caller's part of a job."""
    if threads < 2 or tasks < 2 or tasks > MOST_TASKS or not compare_and_swap(team, BUSY, 0, 1):
        for number in range(tasks):
            _run(task, arguments, number, 0)
        return
    helpers = (threads if threads < tasks else tasks) - 1
    team[TASK], team[ARGUMENTS] = task, arguments
    fetch_add(team, DONE, -atomic_load(team, DONE))
    fetch_add(team, TICKET, (helpers << 48 | tasks) - atomic_load(team, TICKET))  # from here on they can be taken
    ran = _work(task, arguments, helpers, least, team)
    fetch_add(team, DONE, ran)
    _await(tasks, team)
    compare_and_swap(team, BUSY, 1, 0)


@functools.cache
def _address_of_lead():
    """Where the machine code of `_lead` stands in this process."""
    _lead.compile(LEAD_TYPES)
    compiled = _lead.overloads[LEAD_TYPES]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


@inner_njit()
def _work(task, arguments, helpers, least, team):
    """Take tasks until nobody has to begin one; returns how many. The others are woken when that is worth its price."""
    ran, number, before = 0, _take_first(team), _now()
    while number >= 0:
        worth = team[ALONE] + least > WORTH * team[PRICE]
        if worth and atomic_load(team, ASLEEP) > 0 and atomic_load(team, RUNG) == 0:
            before = _ring(team, helpers)
        _run(task, arguments, number, 0)
        ran += 1
        now = _now()
        if atomic_load(team, ASLEEP) > 0:
            team[ALONE] += now - before
        before, number = now, _take_first(team)
    return ran


@inner_njit()
def _await(tasks, team):
    """Wait for tasks that others have begun, not for threads."""
    looks = 0
    while atomic_load(team, DONE) < tasks:
        looks += 1
        if looks < PATIENCE:
            _pause()
        else:
            _yield_core()


@cached_njit(nogil=True)
def _help(team, who):
    """What helper `who` (1, 2, ...) does for as long as the process runs."""
    slot = PLACES + PLACE * who
    team[slot + 1] = _system_call(GET_TID, 0, 0, 0, 0, 0, 0)
    since, looks = _now(), 0
    while atomic_load(team, STOP) == 0:
        number = _take_last(team, who)
        if number >= 0:
            _run(team[TASK], team[ARGUMENTS], number, who)
            fetch_add(team, DONE, 1)
            since = _now()
            continue
        _pause()
        looks += 1
        if looks & 63 or _now() - since < SPIN:
            continue
        team[slot] = _processor()
        bell = atomic_load(team, BELL)
        compare_and_swap(team, RUNG, 1, 0)  # who rang while nobody slept was not heard
        fetch_add(team, ASLEEP, 1)
        ticket = atomic_load(team, TICKET)
        first, last = _begun(ticket)
        if (first >= last or ticket >> 48 < who) and atomic_load(team, STOP) == 0:
            _system_call(FUTEX, team.ctypes.data + 8 * BELL, WAIT, bell & 0xFFFFFFFF, 0, 0, 0)
        fetch_add(team, ASLEEP, -1)
        compare_and_swap(team, RUNG, 1, 0)
        since = _now()
        # It runs elsewhere now. Kept away, it would share that core with a caller that is moved there.
        if team[slot] == AWAY:
            team[slot] = -1
            _allow(team, 0, -1)
        first, last = _begun(atomic_load(team, TICKET))
        if first < last and atomic_load(team, ASLEEP) > 0:
            _wake(team, 2)


@cached_njit(parallel=True)
def _on_layer(task, arguments, tasks, threads, words):
    """A job on numba's threading layer, for one caller at a time."""
    words[DONE] = 0
    for who in prange(threads):
        number = fetch_add(words, DONE, 1)
        while number < tasks:
            _run(task, arguments, number, np.int64(who))
            number = fetch_add(words, DONE, 1)


def share(part, arguments, tasks, threads, least, team):
    """Run part(arguments, task, who) for all tasks below `tasks`, by at most `threads` threads.

    part: an njit function that does not raise; arguments: a tuple. `who`, below `threads`, is a number that no other
    running task has. least: nanoseconds that one thread needs at least for all tasks, 0 if unknown: threads that sleep
    are woken at once for a long job, and for short ones when several came after each other. team: what `members`
    returns.
    """
    for task in range(tasks):
        part(arguments, task, 0)


# Inlined: as an argument `part` is an address in this process, and a kernel with such is not kept on disk.
@overload(share, jit_options=INNER | {"forceinline": True})
def _share_on_layer(part, arguments, tasks, threads, least, team):
    if not isinstance(team, types.BaseNamedTuple):
        return None

    def on_layer(part, arguments, tasks, threads, least, team):
        task, address = _as_numbers(part, arguments)
        if threads < 2 or tasks < 2 or not compare_and_swap(team.words, BUSY, 0, 1):
            for number in range(tasks):
                _run(task, address, number, 0)
        else:
            _on_layer(task, address, tasks, threads, team.words)
            compare_and_swap(team.words, BUSY, 1, 0)

    return on_layer


def _share_by_team(part, arguments, tasks, threads, least, team):
    """A call of `_lead` by its address: linked into each kernel, it would be compiled with each."""
    if not isinstance(team, types.Array):
        return None
    _call_of(cpu_target.typing_context, part, arguments)

    def emit(context, builder, signature, values):
        word = ir.IntType(64)
        task, address = _task_of(context, builder, part, arguments, values[1])
        data = context.make_array(team)(context, builder, values[5]).data
        kind = context.call_conv.get_function_type(types.none, LEAD_TYPES)
        lead = builder.inttoptr(builder.load(builder.gep(data, [word(LEAD)])), kind.as_pointer())
        numbers = [context.cast(builder, values[k], signature.args[k], types.int64) for k in (2, 3, 4)]
        lead_arguments = [task, address, *numbers, _unowned(context, builder, team, values[5])]
        no_result, no_error = (cgutils.alloca_once(builder, pointer.pointee) for pointer in kind.args[:2])
        flat = context.get_arg_packer(LEAD_TYPES).as_arguments(builder, lead_arguments)
        builder.call(lead, [no_result, no_error, *flat])
        return context.get_dummy_value()

    return types.none(part, arguments, tasks, threads, least, team), emit


emitted(share, _share_by_team, (types.Dispatcher, types.BaseTuple, *[types.Integer] * 3, types.Array))


# ---- the team of this process ------------------------------------------------------------------------------


def _most_threads():
    """What OMP_NUM_THREADS allows, or None: who sets it for a whole process means us, too, unless numba was told
    otherwise."""
    wish = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, int(wish)) if wish.isdigit() and "NUMBA_NUM_THREADS" not in os.environ else None


_most = _most_threads()
_threads_now = get_num_threads
_threads, _starting, _halfway = [], threading.RLock(), False
_layer = Layer(np.zeros(PLACES, np.int64))
_memory, _ready = None, False
_busy = np.zeros(PLACES + LINE, np.int64)  # a team that always works for somebody else
_busy[BUSY] = 1


def size():
    """How many threads a job may use: `numba.get_num_threads()`, or less where OMP_NUM_THREADS says so.

    That function looks each time whether numba's threads run, under two locks; once they do, what it asks then is asked
    alone, which takes a fifth as long.
    """
    global _threads_now
    threads = _threads_now()
    if _threads_now is get_num_threads:
        _threads_now = getattr(parallel, "_get_num_threads", get_num_threads)
    return threads if _most is None else min(threads, _most)


def members():
    """The team that `share` wants, its threads started; a `Layer` where numba's threading layer does the work.

    While `tracemalloc` traces, memory that a task asks for is Python's: a helper would wait for the interpreter's lock,
    which the caller keeps until the helper is done. Then the caller works alone.
    """
    team = _memory if _ready else _start()
    if is_tracing() and team is not _layer:
        _busy[LEAD] = _address_of_lead()
        return _busy
    return team


def why_not():
    """Why there is no team here: a sentence, or "" where there is one."""
    if config.THREADING_LAYER != "default":
        return "NUMBA_THREADING_LAYER is set, and is respected."
    if not _SYSTEM_CALL:
        return (
            f"The team sleeps by a system call of Linux on x86-64 and Arm; this is {sys.platform}, "
            f"{platform.machine()}."
        )
    return ""


def new_memory(threads):
    """The memory of a team of that many threads, the caller among them, before any of them has started."""
    memory = np.zeros(PLACES + PLACE * threads + LINE, np.int64)
    memory[PRICE] = 20_000  # until it is measured
    memory[LEAD] = _address_of_lead()
    for processor in filter(range(PROCESSORS).__contains__, os.sched_getaffinity(0)):
        memory.view(np.uint64)[ALLOWED + processor // 64] |= np.uint64(1 << processor % 64)
    return memory


def _start():
    """Start the team: once in a process, and again in one that was forked from it.

    What calls from within the start (a signal's handler, in the same thread) cannot wait for it: it works alone.
    """
    global _memory, _ready, _halfway
    with _starting:
        if _ready:
            return _memory
        if why_not():
            _memory, _ready = _layer, True
            return _memory
        if _halfway:
            return new_memory(1)
        _halfway = True
        try:
            _start_threads()
            _ready = True
        finally:
            _halfway = False
        return _memory


def _start_threads():
    global _memory
    _memory = new_memory(config.NUMBA_NUM_THREADS)
    _help.compile((types.Array(types.int64, 1, "C"), types.int64))  # here, not in each thread
    try:
        for who in range(1, config.NUMBA_NUM_THREADS):
            thread = threading.Thread(target=_help, args=(_memory, who), name=f"dlkernels {who}", daemon=True)
            thread.start()
            _threads.append(thread)
    except RuntimeError:  # the system gives no more threads, or Python ends: with those that came
        pass
    except BaseException:  # interrupted: the next call starts a new team, and these go home
        _dismiss(_memory)
        raise


def _forget():
    """In a process that was forked: the threads are not there."""
    global _memory, _ready, _starting, _halfway
    _memory, _ready, _starting, _halfway = None, False, threading.RLock(), False
    _layer.words[:] = 0
    _threads.clear()


@cached_njit()
def _dismiss(team):
    fetch_add(team, STOP, 1)
    fetch_add(team, BELL, 1)
    _wake(team, 1 << 30)


@atexit.register
def _stop():
    """Let no thread run compiled code while its memory is taken down."""
    if _threads:
        _dismiss(_memory)
        for thread in _threads:
            thread.join(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
