"""Count what a compiled numba function does: multiplications in vectors and one by one, accesses to memory.

LLVM's final code of the function is run once more, with a counter in every basic block that multiplies or adds
floating-point numbers. So a loop counts as often as it is run, whatever stands beside it, and the counts are the same
on a busy machine. The ratio of accesses to multiplications depends neither on the width of a vector, nor on how often
LLVM writes a loop out.
"""

import ctypes
import re
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

_LABEL = re.compile(r'("[^"]+"|[-\w.$]+):')
_NUMBERS = r"(?:<(\d+) x (?:float|double)>|float|double)"
_FLAGS = r"(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*"
# What becomes an integer may be multiplied as one. A product may also be made of logarithms, distances or cosines.
_MULTIPLY = re.compile(rf"= (?:fmul|fdiv|fptosi|fptoui) {_FLAGS}{_NUMBERS} ")
_ADD = re.compile(rf"= (?:fadd|fsub) {_FLAGS}{_NUMBERS} ")
_NO_PRODUCT = r"vector\.|masked\.|fabs|copysign|f?min|f?max|floor|ceil|trunc|r?int|round|nearbyint"
_FUNCTION = re.compile(rf"call {_FLAGS}{_NUMBERS} @(?!(?:llvm\.)?(?:{_NO_PRODUCT}))")
_ACCESS = re.compile(rf"= load {_NUMBERS},|^store {_NUMBERS} |call .*@llvm\.masked\.(?:load|store)\.v\d+f")
_ONE_BY_ONE = re.compile(r"call (.*)@llvm\.(vector\.reduce\.fadd|masked\.gather|masked\.scatter)\.v(\d+)f")


_NAME = r'%(?:"[^"]+"|[-\w.$]+)'
_ASSIGNED = re.compile(rf"({_NAME}) = (.*)")
_TO_FLOATING = re.compile(r"= [su]itofp ")
_LOADED = re.compile(r"^load (?:<\d+ x )?i(?:16|32|64)\b|^(?:tail )?call <\d+ x i(?:16|32|64)>")
_STORED = re.compile(rf"store (?:<\d+ x )?i(?:16|32|64)>? ({_NAME})")
_PRODUCT = re.compile(r"(?:mul|shl) (?:nuw |nsw )*(?:<(\d+) x )?i\d+")
_TO_FUNCTION = re.compile(r'(?:call|define|invoke) .*?@("[^"]+"|[-\w.$]+)\(')
_RETURNED = re.compile(rf"ret \S+ ({_NAME})$")
_BESIDE = ("NRT_", "cfunc.", "_ZN7cpython")  # what numba puts around a function: it stores sizes, not numbers


def integer_products(lines):
    """{number of a line: lanes} of the integer multiplications that floating-point numbers are made of later.

    Followed backwards from each conversion, through all that computes, to the arguments of calls and what is returned;
    where a number comes out of memory, through all integers that are stored. Indices are not among them: no
    floating-point number is made of an address.
    """
    made, takes, calls, returned, stored, waiting, function = {}, {}, defaultdict(list), defaultdict(list), [], [], ""
    for number, line in enumerate(lines):
        to = _TO_FUNCTION.search(line)
        if line.startswith("define "):
            function = to[1]
            takes |= {
                (function, names[-1]): position for position, names in enumerate(_names_given(line, to.end())) if names
            }
        elif to:
            calls[to[1]].append((function, _names_given(line, to.end())))
        if match := _ASSIGNED.match(line):
            made[function, match[1]] = number, match[2]
        if match := _RETURNED.match(line):
            returned[function].append((function, match[1]))
        if (match := _STORED.match(line)) and not function.startswith(_BESIDE):
            stored.append((function, match[1]))
        if _TO_FLOATING.search(line):
            waiting += [(function, name) for name in re.findall(_NAME, line)[1:]]
    seen, found = set(), {}
    while waiting:
        value = owner, _ = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in takes:  # an argument: what each call gives there
            waiting += [(by, n) for by, names in calls[owner] if takes[value] < len(names) for n in names[takes[value]]]
        if value not in made:
            continue
        number, text = made[value]
        if text.startswith("load ") or "@llvm.masked." in text:  # its address is not followed
            waiting += stored if _LOADED.search(text) else ()
            continue
        if product := _PRODUCT.match(text):
            found[number] = int(product[1] or 1)
        to = _TO_FUNCTION.search(text)
        waiting += [*((owner, operand) for operand in re.findall(_NAME, text)), *(returned[to[1]] if to else ())]
    return found


def _names_given(line, begin):
    """The names in each argument of a call, or of the first line of a function, whose arguments begin there."""
    depth, names = 0, [""]
    for sign in line[begin:]:
        depth += (sign in "([{<") - (sign in ")]}>")
        if depth < 0:
            break
        names = [*names, ""] if sign == "," and not depth else [*names[:-1], names[-1] + sign]
    return [re.findall(_NAME, text) for text in names]


@dataclass
class Block:
    """What one run of a basic block does; additions within a multiply-add are not counted again."""

    label: str
    vectors: int = 0  # instructions that multiply whole vectors
    in_vectors: int = 0  # numbers multiplied or added in vectors
    one_by_one: int = 0  # numbers multiplied or added by themselves
    multiplied: int = 0  # numbers
    multiplied_alone: int = 0  # of them by themselves
    accesses: int = 0  # of vectors, or of numbers, to memory


def blocks(text):
    """The basic blocks of a module in LLVM's text form, as `Block`s, in order."""
    found, lines = [], [line.strip() for line in text.splitlines()]
    products = integer_products(lines)
    for number, line in enumerate(lines):
        label = _LABEL.match(line)
        if line.startswith("define ") or label:
            found.append(Block(label[1] if label else ""))
        elif found:
            _count(found[-1], line, products.get(number, 0))
    return found


def _count(block, line, product):
    """`product`: the lanes of an integer multiplication that counts as one of floating-point numbers; 0 for all
    else."""
    multiply = _MULTIPLY.search(line) or _FUNCTION.search(line) or product
    lanes = product or int((multiply or _ADD.search(line) or (0, 0))[1] or 1)
    if multiply or _ADD.search(line):
        block.in_vectors += lanes if lanes > 1 else 0
        block.one_by_one += lanes == 1
    if multiply:
        block.vectors += lanes > 1
        block.multiplied += lanes
        block.multiplied_alone += lanes == 1
    block.accesses += bool(_ACCESS.search(line))
    if call := _ONE_BY_ONE.search(line):
        if "gather" in call[2] or "scatter" in call[2]:  # fetches its numbers one after the other
            block.accesses += int(call[3])
        elif "reassoc" not in call[1] and "fast" not in call[1]:  # adds them in the order of the loop
            block.one_by_one += int(call[3])


def with_counters(text, counts):
    """The module with a counter in each block that computes; its runs are added to counts[number of the block]."""
    lines, number, waiting = [], -1, None
    computes = [block.one_by_one + block.in_vectors > 0 for block in blocks(text)]
    for line in text.splitlines():
        bare = line.strip()
        if waiting is not None and bare and " = phi " not in bare and not _LABEL.match(bare):
            address = counts.ctypes.data + 8 * waiting
            lines.append(f"  %ran.{waiting} = atomicrmw add ptr inttoptr (i64 {address} to ptr), i64 1 monotonic")
            waiting = None
        lines.append(line)
        if bare.startswith("define ") or _LABEL.match(bare):
            number += 1
            waiting = number if computes[number] else None
    return "\n".join(lines)


def costs(text, runs):
    """What a module costs whose block k was run runs[k] times.

    scalar_share: of all multiplications and additions, or of the multiplications if that is more, those of single
    numbers: a loop that only adds beside the one that does the work changes nothing. accesses_per_multiply: accesses to
    memory for each multiplication of a vector, in the blocks that multiply or add vectors. multiplies: numbers that
    were multiplied; a call of exp, log, pow and their like is counted as one.
    """
    work = [(block, int(n)) for block, n in zip(blocks(text), runs, strict=True)]

    def total(name, of=lambda block: True):
        return sum(getattr(block, name) * n for block, n in work if of(block))

    vectors, alone = total("vectors"), total("one_by_one")
    accesses = total("accesses", lambda block: block.in_vectors)
    shares = alone / (alone + total("in_vectors") or 1), total("multiplied_alone") / (total("multiplied") or 1)
    return {
        "scalar_share": round(max(shares), 3) if vectors else 1,
        "accesses_per_multiply": round(accesses / vectors, 3) if vectors else 0,
        "multiplies": total("multiplied"),
    }


def compiled(function, arguments):
    """A numba function, compiled anew for this machine and these arguments."""
    from numba import njit, typeof

    options = {k: v for k, v in function.targetoptions.items() if k in ("parallel", "fastmath", "nogil", "error_model")}
    fresh = njit(**options)(function.py_func)
    with _no_version_for_special_strides():
        fresh.compile(tuple(map(typeof, arguments)))
    return fresh


def of(fresh, arguments):
    """(`costs` of one call of what `compiled` returned, what it returned); the arguments are not kept as they are."""
    (result,) = fresh.overloads.values()
    text = result.library.get_llvm_str()
    runs = np.zeros(len(blocks(text)), np.int64)
    returned = _run(with_counters(text, runs), result, arguments)
    return costs(text, runs), returned


def _run(text, result, arguments):
    """Call a function through the door that numba made for Python, in a module of its own."""
    from llvmlite import binding

    module = binding.parse_assembly(text)
    target = binding.Target.from_triple(module.triple or binding.get_process_triple())
    features = binding.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=binding.get_host_cpu_name(), features=features, opt=1)
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    environment = engine.get_global_value_address(result.fndesc.env_name)
    ctypes.c_void_p.from_address(environment).value = id(result.environment)
    door = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
    return door(engine.get_function_address(result.fndesc.llvm_cpython_wrapper_name))(None, tuple(arguments), None)


@contextmanager
def _no_version_for_special_strides():
    """LLVM also vectorises a loop down a column, for the case that rows have one element: that is not meant here."""
    from llvmlite import binding

    binding.set_option("dlkernels", "-enable-mem-access-versioning=false")
    try:
        yield
    finally:
        binding.set_option("dlkernels", "-enable-mem-access-versioning=true")
