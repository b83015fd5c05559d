"""Predict first: a question whose answer waits for the reader's guess.

In a chapter::

    ```{predict} chains
    :unit: times as long
    How much longer does it take?
    ```

and in a code cell below it, once the answer is known, `answer("chains", value)`. On the page all that stands between
the two is closed until the reader has guessed (_ext/predict.py); in a notebook a cell asks for `guess("chains", ...)`
first.
"""

import math
import numbers
from html import escape

from IPython.display import display

_guesses = {}


def guess(name, value=...):
    """Keep the reader's guess for the question `name`: a number, or one of its choices. `...` means none yet."""
    if value is ...:
        print("No guess yet: put one in place of the three dots, and run this cell again before you go on.")
    else:
        _guesses[name] = value


def answer(name, value, digits=3):
    """Show the answer to the question `name`, and how far off the guess was.

    value: a number, or the text of a choice. digits: how many of the number are shown.
    """
    display(Answer(name, value, digits))


class Answer:
    """What a cell shows: a line of text in a notebook, a mark that the page reads in the book."""

    def __init__(self, name, value, digits=3):
        if not isinstance(value, str):
            float(value)  # an error here stops the page; one in what a cell shows would not
        self.name, self.value, self.digits = name, value, digits

    def __repr__(self):
        if self.name not in _guesses:
            return f"The answer: {shown(self.value, self.digits)}"
        return verdict(_guesses[self.name], self.value, self.digits)

    def _repr_html_(self):
        value = self.value if isinstance(self.value, str) else float(self.value)
        value = "Infinity" if value == math.inf else value  # as the page's script reads it
        said = f"The answer: {shown(self.value, self.digits)}" if self.name not in _guesses else repr(self)
        return (
            f'<p class="prediction" data-name="{escape(self.name)}" '
            f'data-value="{escape(str(value))}">{escape(said)}</p>'
        )


def shown(value, digits=3):
    """A number as a page prints it: 1.07, 123, 45,000; a text as it is."""
    if isinstance(value, str):
        return value
    value = float(value)  # comparing a number of 16 bits with a larger one might overflow
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1e15:
        return f"{value:.{digits}g}"
    digits_before = len(str(int(abs(value)))) if abs(value) >= 1 else 1
    return f"{value:,.{max(0, digits - digits_before)}f}" if abs(value) >= 0.01 else f"{value:.{digits}g}"


def verdict(guess, value, digits=3):
    """One sentence: what was guessed, what it is, how far apart."""
    if isinstance(value, str):
        right = str(guess).strip().lower() == value.strip().lower()
        return f"Right: {value}." if right else f"You said {guess}; it is {value}."
    if not isinstance(guess, numbers.Real):
        return f"You said {guess!r}, which is no number; it is {shown(value, digits)}."
    try:
        said, guess = (
            f"{guess:,}",
            float(guess),
        )  # not a ratio of integers, or of numbers of 16 bits: that might overflow
    except (TypeError, OverflowError):  # a Fraction, which has no such format; an integer beyond all floats
        return f"You said {guess}; it is {shown(value, digits)}."
    told = f"You said {said}; it is {shown(value, digits)}"
    value = float(value)
    if guess == value or (value and abs(guess / value - 1) < 0.1):
        return told + ": right, to within a tenth."
    off = guess / value if value else 0
    if not 0 < off < math.inf or 1 / off == math.inf:
        return told + "."
    return told + (f": {factor(off)} times too much." if off > 1 else f": {factor(1 / off)} times too little.")


def factor(value):
    """Two digits, as the page shows them: 340 for 336."""
    return shown(float(f"{value:.2g}"), 2)
