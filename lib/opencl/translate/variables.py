"""Variables of a kernel: the types that each has, its names in C, and what is known where several ways meet."""

import re
from dataclasses import replace

from numba.core import types

from simt import numbers

from .values import NAMES, NOTHING, ArrayValue, Several, Value, bounds, converted, number


class Variables:
    """The part of a function's translation that knows variables."""

    def read(self, node, name):
        value = self.env.get(name)
        if value is None:
            self.refuse(node, f"{name!r}, which has no value here")
        if isinstance(value, Value):
            self.reads.setdefault(name, set()).add(value.type)
            return replace(value, text=self.c_name(name, value.type), made=self.narrow(name, value.type))
        return value

    def c_name(self, name, kind):
        """The variable of C that holds a variable as one type."""
        kinds = self.variants.get(name, ())
        plain = self.program.allowed(name)
        return plain if len(kinds) < 2 or kind == kinds[0] else f"{plain}_{NAMES[kind]}"

    def narrow(self, name, kind):
        """int, where that holds all that a variable is ever given."""
        return types.int32 if kind == types.int64 and name in self.small else None

    def c_type(self, name, kind):
        return NAMES[self.narrow(name, kind) or kind]

    def assign_name(self, name, value, statement=None):
        if isinstance(value, Several):
            self._assign_tuple(name, value)
        elif isinstance(value, ArrayValue):
            self._assign_array(name, value)
        elif value is NOTHING:
            self.env[name] = NOTHING
        elif isinstance(value, types.Type):
            self.env[name] = value
        else:
            self._assign_number(name, value, statement)

    def _assign_number(self, name, value, statement):
        kinds = self.variants.get(name) or [value.type]
        low, high = self.ranges.get(name, (value.low, value.high))
        self.ranges[name] = min(low, value.low), max(high, value.high)
        self.stores.setdefault(name, set()).add(value.type)
        if len(kinds) > 1:
            value = self.once(value)
        declaring = self.places.inline | self.places.in_head
        declares = statement is not None and (id(statement), name) in declaring and not self.guarded
        for kind in kinds:
            narrow = self.narrow(name, kind)
            assigned = _without_cast(value, narrow or kind)
            assigned = (
                assigned
                or converted(replace(value, type=kind) if narrow else value, narrow or kind, implicit=True).text
            )
            text = f"{self.c_name(name, kind)} = {assigned};"
            self.emit(f"{NAMES[narrow or kind]} {text}" if declares else text)
        known = number("", value.type, value.low, value.high, uniform=value.uniform and not self.divergent)
        self.env[name] = known

    def _assign_tuple(self, name, value):
        items = []
        for k, item in enumerate(value.items):
            if isinstance(item, Value):
                variable = self.fresh(f"{name}_{k}", of=(name, k, item.type))
                self.top[variable] = f"{NAMES[item.type]} {variable};"
                self.emit(f"{variable} = {converted(item, item.type, implicit=True).text};")
                item = replace(
                    item, text=variable, made=None, constant=None, binds=99, uniform=item.uniform and not self.divergent
                )
            items.append(item)
        self.env[name] = Several(tuple(items))

    def _assign_array(self, name, value):
        if self.store_counts.get(name) == 1 and name not in self.arguments and re.fullmatch(r"\w+", value.text):
            self.env[name] = value  # another name for the same array
            return
        value = self.flat(value)
        variable = self.fresh(name, of=(name, *value.form))
        self.top[variable] = f"{self.pointer(value)}{variable};"
        shape, strides = (
            None if sizes is None else tuple(self._extent(f"{variable}_{what}{k}", v) for k, v in enumerate(sizes))
            for what, sizes in (("shape", value.shape), ("stride", value.strides))
        )
        self.emit(f"{variable} = {bare(value.text)};")
        self.env[name] = replace(
            value, text=variable, shape=shape, strides=strides, uniform=value.uniform and not self.divergent
        )

    def _extent(self, name, value):
        if value.constant is not None or value.text in self.fixed_names:
            return value
        self.top[name] = f"long {name};"
        self.emit(f"{name} = {value.text};")
        return replace(value, text=name, made=None, binds=99)

    def joined_env(self, *ways):
        """What is known where several ways meet; a way is None where no thread comes from there."""
        ways = [way for way in ways if way is not None]
        if not ways:
            return None
        result = dict(ways[0])
        for way in ways[1:]:
            for name, value in way.items():
                result[name] = self._joined(name, result[name], value) if name in result else value
        return result

    def _joined(self, name, a, b):
        if a is b or a == b:
            return a
        if isinstance(a, Value) and isinstance(b, Value):
            kind = a.type if a.type == b.type else numbers.unify(a.type, b.type)
            if kind is None:
                self.refuse(self.source.node, f"{name!r} is {a.type} on one way and {b.type} on another")
            both = a.is_whole and b.is_whole
            low, high = (min(a.low, b.low), max(a.high, b.high)) if both else (None, None)
            return number("", kind, low, high, uniform=a.uniform and b.uniform)
        if isinstance(a, Several) and isinstance(b, Several) and len(a.items) == len(b.items):
            return Several(tuple(_joined_item(x, y) for x, y in zip(a.items, b.items, strict=True)))
        if isinstance(a, ArrayValue) and isinstance(b, ArrayValue) and a.form == b.form:
            same = [x.text == y.text for x, y in zip(a.shape, b.shape, strict=True)]
            if all(same) and a.text == b.text:
                return replace(a, uniform=a.uniform and b.uniform)
        return self.refuse(self.source.node, f"{name!r}, which is another kind of array on each way: use two names")

    def widened(self, before, after):
        """``after``, with bounds that still move set to those of the type, so that a loop comes to an end."""
        result = {}
        for name, value in after.items():
            old = before.get(name)
            if isinstance(value, Value) and isinstance(old, Value) and old.type == value.type and value.is_whole:
                low, high = bounds(value.type)
                value = replace(
                    value,
                    low=value.low if value.low == old.low else 0 if value.low >= 0 else low,
                    high=value.high if value.high == old.high else high,
                )
            result[name] = value
        return result


def _joined_item(a, b):
    if isinstance(a, Value) and isinstance(b, Value) and a.type == b.type and a.text == b.text:
        return replace(a, low=min(a.low, b.low), high=max(a.high, b.high), uniform=a.uniform and b.uniform)
    return a


def _without_cast(value, kind):
    """The text of a cast to the very type of the variable that it is assigned to, without the cast."""
    found = re.fullmatch(r"\((\w+)\)(get_\w+\(\d\))", value.text)
    return found[2] if found and isinstance(kind, types.Integer) else None


def bare(text):
    """A text without parentheses around all of it."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and k + 1 < len(text):
            return text
    return text[1:-1] if text.startswith("(") else text
