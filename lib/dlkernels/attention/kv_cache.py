"""Caches of keys and values: what a Transformer keeps of the tokens it has seen, so that a new token computes only its
own.

KVCache          one array for all sequences, with room for so many tokens; they grow in step
PagedKVCache     pages of a few tokens from a common pool: each sequence has its own length, and wastes less than a page
"""

import numpy as np

from ..arguments import float_array
from ..implementations import call

FLOATS = ("float32", "float64")


def to_bytes(x):
    """(bytes, factors) of rows of numbers, (..., width) -> int8 (..., width), (...): x is about factor * byte.

    A row's largest number becomes 127: each number is wrong by half a factor at most, 1/254 of the row's largest.
    """
    factors = np.abs(x).max(axis=-1, initial=0) / x.dtype.type(127)
    over = np.where(factors > 0, factors, 1)
    return np.rint(x / over[..., None]).astype(np.int8), factors


def _checked_dtype(dtype):
    dtype = np.dtype(dtype)
    if dtype not in (*FLOATS, "int8"):
        raise TypeError(
            f"dtype is {dtype}; expected float32, float64, or int8 for bytes with a float32 factor for each row."
        )
    return dtype


def _counts(**counts):
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"{name} is {value!r}; expected a whole number.")
        if value < 1:
            raise ValueError(f"{name} is {value}; expected at least 1.")


class _Rows:
    """Keys or values: an array (..., width), and where these are bytes one of factors (...)."""

    def __init__(self, shape, dtype):
        self.numbers = np.zeros(shape, dtype)
        self.factors = np.zeros(shape[:-1], np.float32) if dtype == np.int8 else None

    def put(self, index, x):
        """Write rows x to numbers[index]."""
        if self.factors is None:
            self.numbers[index] = x
        else:
            self.numbers[index], self.factors[index] = to_bytes(x)

    def get(self, index):
        """The rows of numbers[index]; of bytes what they stand for."""
        if self.factors is None:
            return self.numbers[index]
        return self.numbers[index] * self.factors[index][..., None]

    @property
    def nbytes(self):
        return self.numbers.nbytes + (0 if self.factors is None else self.factors.nbytes)


class _Cache:
    """What both kinds share: two `_Rows`, and the check of what comes in."""

    def _make(self, lead, width, values, dtype):
        self.dtype = _checked_dtype(dtype)
        self._of_k, self._of_v = _Rows((*lead, width), self.dtype), _Rows((*lead, values), self.dtype)

    def _check(self, k, v, *lead):
        """The number of new tokens; ValueError or TypeError where k and v do not fit (*lead, new tokens, width)."""
        kind = ("float32",) if self.dtype == np.int8 else (str(self.dtype),)
        for name, x, rows in (("k", k, self._of_k), ("v", v, self._of_v)):
            float_array(name, x, kind)
            width = rows.numbers.shape[-1]
            if x.ndim != len(lead) + 2 or (*x.shape[:-2], x.shape[-1]) != (*lead, width):
                expected = ", ".join(map(str, (*lead, "new tokens", width)))
                raise ValueError(f"{name} has shape {x.shape}; expected ({expected}).")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"k has {k.shape[-2]} new tokens and v has {v.shape[-2]}; expected the same number.")
        return k.shape[-2]

    @property
    def nbytes(self):
        """Bytes of memory that keys and values take, room that is not used yet included."""
        return self._of_k.nbytes + self._of_v.nbytes

    def _attend(self, q, lengths, block_table, scale, return_lse):
        k, v = self._of_k, self._of_v
        return call(
            "decode_attention", q, k.numbers, v.numbers, lengths, block_table, k.factors, v.factors, scale, return_lse
        )


class KVCache(_Cache):
    """Keys and values of `batch` sequences that grow in step, in memory that is there from the start.

    batch, heads: sequences, heads of keys and values (queries may have more: a multiple). room: tokens that fit. width:
    of a key; values: of a value, if not the same. dtype: float32, float64, or int8: bytes with a factor for each row, a
    quarter of the memory, with an error of up to 1/254 of a row's largest number. grow: True to double the room when it
    is full, by copying all; False to refuse.
    """

    def __init__(self, batch, heads, room, width, values=None, dtype=np.float32, grow=False):
        values = width if values is None else values
        _counts(batch=batch, heads=heads, room=room, width=width, values=values)
        self._make((batch, heads, room), width, values, dtype)
        self.length, self.grow = 0, bool(grow)

    @property
    def room(self):
        """Tokens that fit."""
        return self._of_k.numbers.shape[2]

    @property
    def k(self):
        """The keys so far: (batch, heads, length, width). A view, but for bytes."""
        return self._of_k.get(np.s_[:, :, : self.length])

    @property
    def v(self):
        """The values so far: (batch, heads, length, value width). A view, but for bytes."""
        return self._of_v.get(np.s_[:, :, : self.length])

    def append(self, k, v):
        """Keep the keys and values of new tokens: (batch, heads, new tokens, width) of dtype float32, or float64."""
        new = self._check(k, v, *self._of_k.numbers.shape[:2])
        if self.length + new > self.room:
            self._make_room(self.length + new)
        index = np.s_[:, :, self.length : self.length + new]
        self._of_k.put(index, k)
        self._of_v.put(index, v)
        self.length += new

    def _make_room(self, needed):
        if not self.grow:
            raise ValueError(
                f"The cache has room for {self.room} tokens and holds {self.length}; {needed - self.length} more do "
                "not fit. Make it with more room, or with grow=True."
            )
        room = max(needed, 2 * self.room)
        for rows in (self._of_k, self._of_v):
            for name in ("numbers", "factors"):
                old = getattr(rows, name)
                if old is not None:
                    new = np.zeros((*old.shape[:2], room, *old.shape[3:]), old.dtype)
                    new[:, :, : self.length] = old[:, :, : self.length]
                    setattr(rows, name, new)

    def attend(self, q, scale=None, return_lse=False):
        """`decode_attention` of the newest queries (batch, heads of q, queries, width) over all that is kept."""
        lengths = np.full(self._of_k.numbers.shape[0], self.length)
        return self._attend(q, lengths, None, scale, return_lse)


class PagedKVCache(_Cache):
    """Keys and values of sequences that come and go, in pages from a common pool (Kwon and others, PagedAttention,
    2023).

    pages: in the pool; page: tokens of each. heads, width, values, dtype: as for `KVCache`. A sequence is a number that
    `begin` gives; its table says which pages hold its tokens, in order.
    """

    def __init__(self, pages, page, heads, width, values=None, dtype=np.float32):
        values = width if values is None else values
        _counts(pages=pages, page=page, heads=heads, width=width, values=values)
        self._make((pages, heads, page), width, values, dtype)
        self.page, self.free = page, list(range(pages))[::-1]
        self.tables, self.lengths, self._next = {}, {}, 0

    def begin(self):
        """The number of a new sequence, of no token."""
        self._next += 1
        self.tables[self._next], self.lengths[self._next] = [], 0
        return self._next

    def end(self, sequence):
        """Give the pages of a sequence back."""
        self._known(sequence)
        self.free += self.tables.pop(sequence)[::-1]
        del self.lengths[sequence]

    def _known(self, sequence):
        if sequence not in self.tables:
            raise ValueError(f"sequence is {sequence!r}; expected one of {sorted(self.tables)}, as begin() gave them.")

    def append(self, sequence, k, v):
        """Keep the keys and values of new tokens of one sequence: (heads, new tokens, width)."""
        self._known(sequence)
        new = self._check(k, v, self._of_k.numbers.shape[1])
        table, length = self.tables[sequence], self.lengths[sequence]
        missing = -(-(length + new) // self.page) - len(table)
        if missing > len(self.free):
            raise ValueError(
                f"{new} more tokens need {missing} more pages of {self.page}, and {len(self.free)} are free. End a "
                "sequence, or make the pool larger."
            )
        table += [self.free.pop() for _ in range(missing)]
        done = 0
        while done < new:
            page, inside = divmod(length + done, self.page)
            count = min(self.page - inside, new - done)
            index = np.s_[table[page], :, inside : inside + count]
            self._of_k.put(index, k[:, done : done + count])
            self._of_v.put(index, v[:, done : done + count])
            done += count
        self.lengths[sequence] += new

    def attend(self, sequences, q, scale=None, return_lse=False):
        """`decode_attention` of the newest queries of these sequences, (sequences, heads of q, queries, width)."""
        for sequence in sequences:
            self._known(sequence)
        lengths = np.array([self.lengths[s] for s in sequences], np.int64)
        tables = [self.tables[s] for s in sequences]
        block_table = np.zeros((len(tables), max(map(len, tables), default=0)), np.int64)
        for row, table in zip(block_table, tables, strict=True):
            row[: len(table)] = table
        return self._attend(q, lengths, block_table, scale, return_lse)
