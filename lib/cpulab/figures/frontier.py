"""Points of accuracy against bytes, and a budget that the reader moves: which way gets the most within so many bytes?

The figure is an inline SVG with the best point of one budget marked; a few lines of script mark that of another.
Without JavaScript it is a picture.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 300, 44, 10, 10, 40
SCRIPT = """(function (id) {
  const figure = document.getElementById(id), slider = figure.querySelector("input");
  const points = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const dots = figure.querySelectorAll("circle"), line = figure.querySelector("[data-budget]");
  const caption = figure.querySelector("figcaption");
  slider.parentElement.hidden = false;
  slider.addEventListener("input", () => {
    const point = points[slider.value];
    dots.forEach((dot, i) => dot.setAttribute("r", i === point.dot ? 7 : 3.5));
    line.setAttribute("x1", point.x);
    line.setAttribute("x2", point.x);
    caption.textContent = point.text;
    slider.setAttribute("aria-valuetext", point.text);
  });
})("%s")"""


@dataclass(frozen=True)
class Point:
    """name: of the method and its setting; nbytes: positive; accuracy: 0 to 1; ratio: how many times as fast as the
    whole network, measured, or None."""

    name: str
    nbytes: int
    accuracy: float
    ratio: float | None = None

    @property
    def words(self):
        fast = "" if self.ratio is None else f", {self.ratio:.1f} times as fast as the whole network"
        return f"{self.name}: {self.accuracy:.1%} in {self.nbytes / 1024:.1f} KiB{fast}"


def best(points, budget):
    """The most accurate of the `Point`s that fit into `budget` bytes, of equal ones the smallest; None if none fits."""
    fit = [point for point in points if point.nbytes <= budget]
    return max(fit, key=lambda point: (point.accuracy, -point.nbytes), default=None)


def rising(points):
    """The points that no other beats in both, by bytes: the frontier."""
    found = []
    for point in sorted(points, key=lambda point: (point.nbytes, -point.accuracy)):
        if not found or point.accuracy > found[-1].accuracy:
            found.append(point)
    return found


@dataclass(frozen=True)
class Frontier:
    """`points`, drawn above `least` accuracy (those below stand at the bottom). alt: what the figure shows."""

    points: tuple
    alt: str
    least: float = 0.9

    def __str__(self):
        return "\n".join([f"[Figure: {self.alt}]", *(point.words for point in rising(self.points))])

    __repr__ = __str__

    def _place(self, point):
        low = math.log(min(p.nbytes for p in self.points) / 1.2)
        high = math.log(max(p.nbytes for p in self.points) * 1.2)
        x = LEFT + (math.log(point.nbytes) - low) / (high - low) * (WIDTH - LEFT - RIGHT)
        part = (max(point.accuracy, self.least) - self.least) / (1 - self.least)
        return round(x, 1), round(HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP), 1)

    def _axes(self):
        sizes = [2**k * 1024 for k in range(-4, 12)]
        inside = [s for s in sizes if LEFT < self._place(Point("", s, 1.0))[0] < WIDTH - RIGHT]
        for size in inside:
            x = self._place(Point("", size, 1.0))[0]
            yield f'<path d="M{x} {TOP}V{HEIGHT - BOTTOM}" stroke-opacity=".15"/>'
            label = f"{size / 1024:g}"
            yield f'<text x="{x}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle" stroke="none">{label}</text>'
        for k in range(6):
            accuracy = self.least + k * (1 - self.least) / 5
            y = self._place(Point("", self.points[0].nbytes, accuracy))[1]
            yield f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke-opacity=".15"/>'
            yield f'<text x="{LEFT - 5}" y="{y + 4}" text-anchor="end" stroke="none">{accuracy:.0%}</text>'
        middle = (LEFT + WIDTH - RIGHT) / 2
        yield f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle" stroke="none">KiB that are stored</text>'

    def _repr_html_(self):
        ways = rising(self.points)
        steps = []
        for point in ways:
            text = f"At most {point.nbytes / 1024:.1f} KiB. {point.words}."
            steps.append({"dot": self.points.index(point), "x": self._place(point)[0], "text": text})
        now = steps[len(steps) // 2]
        dots = []
        for k, point in enumerate(self.points):
            (x, y), on = self._place(point), point in ways
            dots.append(
                f'<circle cx="{x}" cy="{y}" r="{7 if k == now["dot"] else 3.5}" fill="#2f7fc9" '
                f'fill-opacity="{0.9 if on else 0.3}" stroke="none"><title>{escape(point.words)}</title></circle>'
            )
        line = " ".join(f"{x},{y}" for x, y in map(self._place, ways))
        data = json.dumps(steps).replace("<", "\\u003c")
        name = "frontier-" + hashlib.sha1(self.alt.encode()).hexdigest()[:8]
        return (
            f'<figure class="drawing" id="{name}"><svg class="figure" role="img" aria-label="{escape(self.alt)}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" style="width:100%;max-width:560px;height:auto" font-size="12" '
            f'font-family="system-ui, sans-serif" fill="currentColor" stroke="currentColor">'
            f"<title>{escape(self.alt)}</title>{''.join(self._axes())}"
            f'<polyline points="{line}" fill="none" stroke="#2f7fc9"/>'
            f'<line data-budget x1="{now["x"]}" x2="{now["x"]}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" '
            f'stroke-dasharray="3 3"/>{"".join(dots)}</svg>'
            f'<label hidden>budget <input type="range" min="0" '
            f'max="{len(steps) - 1}" value="{len(steps) // 2}" style="width:60%;vertical-align:middle" '
            f'aria-valuetext="{escape(now["text"])}"></label>'
            f'<figcaption aria-live="polite">{escape(now["text"])}</figcaption>'
            f'<script type="application/json">{data}</script>'
            f"<script>{SCRIPT % name}</script></figure>"
        )
