"""Barriers, and what a warp does together. OpenCL's sub-groups have no size that is sure, and many devices have none:
here 32 work-items exchange values by __local memory, between two barriers of the work-group."""

import ast

from numba.core import types

from .values import ATOM, NAMES, NOTHING, UNARY, Several, converted, number

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
_VOTES = {"ballot_sync": "ballot", "any_sync": "any_of_warp", "all_sync": "all_of_warp", "eq_sync": "same_of_warp"}
_COUNTS = {"syncthreads_count": "count_of_block", "syncthreads_and": "all_of_block", "syncthreads_or": "any_of_block"}
_SHUFFLES = {
    "shfl_sync": "shuffle",
    "shfl_up_sync": "shuffle_up",
    "shfl_down_sync": "shuffle_down",
    "shfl_xor_sync": "shuffle_xor",
}
_SHUFFLED = (types.int32, types.int64, types.float32, types.float64, types.uint32, types.uint64)


class Warps:
    """The part of a function's translation that knows barriers, shuffles and votes."""

    def collective(self, node, called):
        if self.divergent and self.under is None:
            self.refuse(
                node,
                f"cuda.{called.path} where threads of a block part ways in one expression: take it out of the "
                "expression, as a statement of its own",
            )
        path = called.path
        if path in ("syncthreads", "syncwarp"):
            self.meeting([BARRIER])
            return NOTHING
        if path == "activemask":
            self.refuse(node, "cuda.activemask(): which threads run together is not known in OpenCL. Give a mask")
        self.needs_exchange()
        nodes = dict(zip(called.parameters, self.source.bind(node, called), strict=True))
        if path in _SHUFFLES:
            return self._shuffle(node, path, nodes)
        on = self.under or "true"
        if path in ("match_any_sync", "match_all_sync"):
            value = self.argument_kept(self.number_of(nodes["value"]))
            bits = _bits_of(value)
            if path == "match_any_sync":
                return self._met(f"(int)match_any({on}, {bits}, exchange)", types.int32, types.int32, UNARY)
            mask = self._met(f"(int)match_all({on}, {bits}, exchange)", types.int32, types.int32, UNARY)
            return Several((mask, number(f"{mask.text} != 0", types.boolean, 0, 1, uniform=False, binds=7)))
        predicate = self.argument_kept(self._truth_of(nodes["predicate"]))
        if path in _COUNTS:
            text = f"{_COUNTS[path]}({on}, {predicate.text}, exchange)"
            found = self._met(text, types.int32, types.int32)
            return number(found.text, types.int32, 0, 1024 if path == "syncthreads_count" else 1, uniform=True)
        kind = types.int32 if path == "ballot_sync" else types.boolean
        cast = "(int)" if path == "ballot_sync" else ""
        return self._met(f"{cast}{_VOTES[path]}({on}, {predicate.text}, exchange)", kind, kind, UNARY)

    def _truth_of(self, node):
        value = self.number_of(node)
        return value if isinstance(value.type, types.Boolean) else converted(value, types.boolean)

    def _shuffle(self, node, path, nodes):
        _, shuffled, source = nodes.values()
        value = self.number_of(shuffled)
        if value.type not in _SHUFFLED:
            self.refuse(node, f"a shuffle of {value.type}")
        kind = value.type
        value = self.argument_kept(converted(value, kind))
        source = self.argument_kept(self.number_of(source))
        lane = converted(source, types.int32).text if source.in_c != types.int32 else source.text
        text = f"{_SHUFFLES[path]}_{NAMES[kind]}({value.text}, {lane}, exchange)"
        return self._met(text, kind, kind)

    def _met(self, text, kind, type_, binds=ATOM):
        """The result of what threads do together, as a variable."""
        if self.under is None and self.simple:
            return number(text, type_, uniform=False, binds=binds)
        name = self.fresh("met")
        if self.under is None:
            self.emit(f"const {NAMES[kind]} {name} = {text};")
        else:
            self.top[name] = f"{NAMES[kind]} {name};"
            self.meeting([f"{name} = {text};"])
        return number(name, type_, uniform=False)

    def needs_exchange(self):
        self.hidden.add("exchange")
        self.program.exchange = True

    def is_simple(self, node):
        """Whether all that a statement calls is called whenever it runs."""
        return not any(isinstance(n, ast.BoolOp | ast.IfExp) for n in ast.walk(node))


def _bits_of(value):
    if isinstance(value.type, types.Float):
        return f"as_{'uint' if value.type == types.float32 else 'ulong'}({value.text})"
    return f"(ulong)({value.text})"


def _exchange(kind):
    """Shuffles of one type."""
    to, back = {
        "int": ("(uint)x", "(int)(uint){}"),
        "uint": ("x", "(uint){}"),
        "long": ("(ulong)x", "(long){}"),
        "ulong": ("x", "{}"),
        "float": ("as_uint(x)", "as_float((uint){})"),
        "double": ("as_ulong(x)", "as_double({})"),
    }[kind]
    texts = {
        f"from_lane_{kind}": f"""// x of another lane of this warp
{kind} from_lane_{kind}({kind} x, int lane, __local ulong *exchange) {{
    int t = thread_number(), from = (t & ~31) + lane;
    exchange[t] = {to};
    barrier(CLK_LOCAL_MEM_FENCE);
    {kind} result = from < threads_of_block() ? {back.format("exchange[from]")} : x;
    barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}}"""
    }
    lanes = {
        "shuffle": "other & 31",
        "shuffle_up": "lane_id() < other ? lane_id() : lane_id() - other",
        "shuffle_down": "lane_id() + other > 31 ? lane_id() : lane_id() + other",
        "shuffle_xor": "(lane_id() ^ other) & 31",
    }
    for name, lane in lanes.items():
        head = f"{kind} {name}_{kind}({kind} x, int other, __local ulong *exchange)"
        texts[f"{name}_{kind}"] = f"{head} {{ return from_lane_{kind}(x, {lane}, exchange); }}"
    return texts


def _of_warp(name, kind, more, result, start=""):
    return f"""{kind} {name}({more}, __local ulong *exchange) {{
    int t = thread_number(), first = t & ~31;
    exchange[t] = on ? {start} : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint present = 0, votes = 0;
    for (int lane = 0; lane < 32 && first + lane < threads_of_block(); lane++) {{
        present |= (uint)(exchange[first + lane] & 1) << lane;
        votes |= (uint)(exchange[first + lane] >> 1 & 1) << lane;
    }}
    barrier(CLK_LOCAL_MEM_FENCE);
    return {result};
}}"""


def _of_block(name, result):
    return f"""int {name}(bool on, bool x, __local ulong *exchange) {{
    exchange[thread_number()] = on ? 1 + 2 * (x ? 1 : 0) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int present = 0, votes = 0;
    for (int t = 0; t < threads_of_block(); t++) {{
        present += exchange[t] & 1;
        votes += exchange[t] >> 1 & 1;
    }}
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return {result};
}}"""


_MATCH = """uint match_any(bool on, ulong x, __local ulong *exchange) {
    int t = thread_number(), first = t & ~31;
    uint present = ballot(true, on, exchange), same = 0;
    exchange[t] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int lane = 0; lane < 32; lane++)
        if (present >> lane & 1 && exchange[first + lane] == x) same |= 1u << lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    return same;
}"""

_PAIR = "1 + 2 * (x ? 1 : 0)"
#: name -> text, in an order in which each is defined before it is called
TOGETHER = {
    "thread_number": """// the number of a work-item in its group, as CUDA counts threads; warps are 32 of them
int thread_number() {
    return get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
}""",
    "threads_of_block": "int threads_of_block() { return get_local_size(0) * get_local_size(1) * get_local_size(2); }",
    "lane_id": "int lane_id() { return thread_number() & 31; }",
    "ballot": _of_warp("ballot", "uint", "bool on, bool x", "votes", _PAIR),
    "any_of_warp": _of_warp("any_of_warp", "bool", "bool on, bool x", "votes != 0", _PAIR),
    "all_of_warp": _of_warp("all_of_warp", "bool", "bool on, bool x", "votes == present", _PAIR),
    "same_of_warp": _of_warp("same_of_warp", "bool", "bool on, bool x", "votes == present || votes == 0", _PAIR),
    "match_any": _MATCH,
    "match_all": "uint match_all(bool on, ulong x, __local ulong *exchange) {\n"
    "    uint present = ballot(true, on, exchange), same = match_any(on, x, exchange);\n"
    "    return same == present ? same : 0;\n}",
    "count_of_block": _of_block("count_of_block", "votes"),
    "all_of_block": _of_block("all_of_block", "votes == present"),
    "any_of_block": _of_block("any_of_block", "votes != 0"),
    "any_thread": "// whether any work-item goes on\n"
    "bool any_thread(bool go, __local ulong *exchange) { return any_of_block(true, go, exchange); }",
    "reversed_bits_uint": """uint reversed_bits_uint(uint x) {
    uint y = 0;
    for (int k = 0; k < 32; k++) y |= (x >> k & 1) << (31 - k);
    return y;
}""",
    "reversed_bits_ulong": """ulong reversed_bits_ulong(ulong x) {
    ulong y = 0;
    for (int k = 0; k < 64; k++) y |= (x >> k & 1) << (63 - k);
    return y;
}""",
}
for _kind in ("int", "uint", "long", "ulong", "float", "double"):
    TOGETHER |= _exchange(_kind)
