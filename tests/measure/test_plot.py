"""The roofline: its numbers, its table, its words and what the figure shows."""

import matplotlib

matplotlib.use("Agg")

import pytest
from matplotlib import pyplot

from cpulab.measure import Point, Roof, roofline, roofline_table, roofs

from .test_peak_rates import EXAMPLE

pytestmark = pytest.mark.quick

ROOF = Roof("2 threads", peak=100e9, bandwidth=20e9)
POINTS = [("add", 1e9, 12e9, 1.0), Point("matmul", 1e12, 1e10, 20.0)]


def test_the_bound_is_the_lower_of_both_roofs():
    assert ROOF.at(1.0) == 20e9
    assert ROOF.at(5.0) == ROOF.at(50.0) == 100e9
    assert (ROOF.bound(4.9), ROOF.bound(5.1)) == ("memory", "arithmetic")


def test_the_table_says_share_and_bound():
    add, matmul = roofline_table(POINTS, ROOF).rows
    # add: 1/12 FLOP per byte x 20 GB/s = 1.67 GFLOP/s, of which 1 is reached.
    assert add == ("add", "0.0833", "1.00\xa0GFLOP/s", "1.67\xa0GFLOP/s", "60%")
    assert matmul == ("matmul", "100", "50.0\xa0GFLOP/s", "100\xa0GFLOP/s", "50%")


def test_roofs_come_from_measured_peaks_fastest_first():
    one, two = EXAMPLE.flops
    assert [roof.label for roof in roofs(EXAMPLE, [one, two])] == ["2 threads", "1 thread"]
    assert roofs(EXAMPLE)[0] == ROOF


def test_the_figure():
    open_before = pyplot.get_fignums()
    figure = roofline(POINTS, roofs(EXAMPLE, [1, 2]))
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    lines = [line for line in axes.lines if line.get_linestyle() != "None"]
    assert len({line.get_linestyle() for line in lines}) == 2
    markers = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in markers] == [(1 / 12, 1e9), (100, 5e10)]
    assert len({line.get_marker() for line in markers}) == 2
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left < 1 / 12 < 100 < right
    assert bottom < 1e9 < 100e9 < top
    assert "add: 0.0833 FLOP per byte, 1.00\xa0GFLOP/s, 60% of the bound set by memory" in figure.alt_text
    assert pyplot.get_fignums() == open_before


@pytest.mark.parametrize("wrong", [("a", 0, 1, 1), ("a", 1, -1, 1), ("a", 1, 1, float("nan"))])
def test_wrong_points_are_said(wrong):
    with pytest.raises(ValueError, match="of the point 'a' is"):
        Point(*wrong)
    with pytest.raises(ValueError, match="no points given"):
        roofline([], ROOF)
