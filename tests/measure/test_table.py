"""Tables and numbers with units."""

import pytest

from cpulab.measure import Table, faster_or_slower, with_unit

pytestmark = pytest.mark.quick

TABLE = Table(("name", "time"), [("a<b", "1 s"), ("c", "12 s")], "Two rows")


def test_text_html_and_markdown():
    assert str(TABLE) == "Two rows\nname  time\n----  ----\na<b    1 s\nc     12 s"
    html = TABLE._repr_html_()
    assert "<caption>Two rows</caption>" in html
    assert "<td>a&lt;b</td><td style='text-align:right'>1 s</td>" in html
    assert TABLE.markdown().splitlines()[1] == "| --- | ---: |"


def test_a_row_of_another_length_is_said():
    with pytest.raises(ValueError, match="3 cells under 2 headings"):
        Table(("a", "b"), (("1", "2", "3"),))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"), (1, "1.00 s"), (0.0431, "43.1 ms"), (2.5e-6, "2.50 µs"), (3.3e10, "33.0 Gs"), (999.7, "1.00 ks"),
        (9.999, "10.0 s"), (0.9996, "1.00 s"), (999.4, "999 s"), (-0.5, "-500 ms"), (1e-12, "0.00100 ns"),
        (5e16, "50000 Ts"),
    ],
)  # fmt: skip
def test_values_with_units(value, text):
    assert with_unit(value, "s") == text.replace(" ", "\xa0")


@pytest.mark.parametrize(
    ("ratio", "text"), [(1, "1.00 times as fast"), (2.5, "2.50 times as fast"), (0.4, "2.50 times as long")]
)
def test_a_slowdown_is_told_as_one(ratio, text):
    assert faster_or_slower(ratio) == text


def test_columns_of_numbers_are_found_and_aligned_to_the_right():
    table = Table(
        ("", "count", "ratio", "unknown", "said", "none"),
        [("a", 1, "1.5x", "-", "yes", ""), (2, -7, "+3 %", 4, "2", "")],
    )
    assert table.right == (1, 2, 3)
    assert table.rows == (("a", "1", "1.5x", "-", "yes", ""), ("2", "-7", "+3 %", "4", "2", ""))


@pytest.mark.parametrize(
    ("cells", "aligned"),
    [
        (("256", "1,024"), True), (("-0.5", "1e-3"), True), (("3 us", "12 MiB"), True), (("16x", "-"), True),
        (("64 channels, 56 x 56", "3 x 3"), False), (("1, free", "2, pinned"), False), (("4096 x 4096",), False), (("3 "
                                                                                                                    "of "
                                                                                                                    "4",), False),
    ],
)  # fmt: skip
def test_a_first_column_of_names_that_begin_with_digits_stands_to_the_left(cells, aligned):
    """Of another column a number may have more behind it."""
    found = Table(("layer", "time"), [(cell, "3 of 4") for cell in cells]).right
    assert found == ((0, 1) if aligned else (1,))
