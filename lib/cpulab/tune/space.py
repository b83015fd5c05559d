"""The search space: what may be chosen, and which choices fit together."""

import itertools
import math

import numpy as np


class Space:
    """All configurations of some parameters that meet all constraints.

        Space({"rows": (2, 4, 8), "vectors": (1, 2, 3)}, lambda c: c["rows"] * c["vectors"] <= 16)

    parameters: name -> values, ordered where they have an order. constraints: functions of a configuration, a dict
    {name: value}, that say whether it may be tried. The space is a sequence: ``space[3]`` is a configuration, and what
    searches it speaks of configurations by their number.
    """

    def __init__(self, parameters, *constraints):
        if not parameters or not all(len(values) for values in parameters.values()):
            raise ValueError(f"parameters is {parameters!r}; expected a dict of name -> values, none of them empty")
        for name, values in parameters.items():
            if len(set(values)) < len(values):
                raise ValueError(f"{name} has a value twice: {tuple(values)}; expected each once")
        self.parameters = {name: tuple(values) for name, values in parameters.items()}
        self._set([p for p in self._all() if all(allowed(self._named(p)) for allowed in constraints)])

    def _all(self):
        """All combinations, as the index of each parameter's value."""
        return itertools.product(*(range(len(values)) for values in self.parameters.values()))

    def _set(self, points):
        if not points:
            raise ValueError("no configuration meets all constraints; expected at least one: loosen them")
        self._points, self._number = points, {point: number for number, point in enumerate(points)}

    def _named(self, point):
        pairs = zip(self.parameters.items(), point, strict=True)
        return {name: values[index] for (name, values), index in pairs}

    def __len__(self):
        return len(self._points)

    def __getitem__(self, number):
        return self._named(self._points[number])

    def __repr__(self):
        return f"Space({len(self)} of {math.prod(map(len, self.parameters.values()))} configurations)"

    def number(self, configuration):
        """The number of a configuration; KeyError if it is not in the space."""
        try:
            return self._number[tuple(v.index(configuration[name]) for name, v in self.parameters.items())]
        except (KeyError, ValueError):
            raise KeyError(f"{configuration} is not in the space; it may break a constraint") from None

    def neighbours(self, number):
        """Numbers of the configurations that differ in one parameter, which has the next or the previous value."""
        point = self._points[number]
        steps = itertools.product(range(len(point)), (-1, 1))
        near = ((*point[:axis], point[axis] + step, *point[axis + 1 :]) for axis, step in steps)
        return [self._number[neighbour] for neighbour in near if neighbour in self._number]

    def features(self):
        """(configurations, parameters) of float64: each value by its index, scaled to 0..1."""
        longest = [max(1, len(values) - 1) for values in self.parameters.values()]
        return np.array(self._points, np.float64) / longest

    def only(self, numbers):
        """The space of these configurations alone, in this order."""
        part = object.__new__(Space)
        part.parameters = self.parameters
        part._set([self._points[number] for number in numbers])
        return part
