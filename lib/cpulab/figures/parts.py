"""What a whole is made of, for one size after the other: stacked bars, and a slider that says one of them in words.

The figure is an inline SVG; a few lines of script move the mark. Without JavaScript it is a picture, and as text it is
the sentences.
"""

import hashlib
import json
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 300, 44, 10, 12, 40
SCRIPT = """(function (id) {
  const figure = document.getElementById(id), slider = figure.querySelector("input");
  const steps = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const mark = figure.querySelector("[data-mark]"), caption = figure.querySelector("figcaption");
  slider.parentElement.hidden = false;
  slider.addEventListener("input", () => {
    const step = steps[slider.value];
    mark.setAttribute("x", step.x);
    caption.textContent = step.text;
    slider.setAttribute("aria-valuetext", step.text);
  });
})("%s")"""
# From below: each part has a density of its own, so that no colour has to be told from another.
FILLS = (("#2f7fc9", 0.95), ("#2f7fc9", 0.6), ("#2f7fc9", 0.3), ("#d98c2b", 0.9), ("#d98c2b", 0.45))


@dataclass(frozen=True)
class Bar:
    """label: below the bar; parts: {name: its part of the whole, 0 to 1}; words: a sentence for the slider."""

    label: str
    parts: dict
    words: str


@dataclass(frozen=True)
class Parts:
    """`bars`, whose parts have the same names; axis: what the labels count; alt: what the figure shows."""

    bars: tuple
    axis: str
    alt: str

    def __str__(self):
        return "\n".join([f"[Figure: {self.alt}]", *(bar.words for bar in self.bars)])

    __repr__ = __str__

    def _left(self, k):
        return round(LEFT + (k + 0.12) * (WIDTH - LEFT - RIGHT) / len(self.bars), 1)

    def _drawn(self):
        width = round(0.76 * (WIDTH - LEFT - RIGHT) / len(self.bars), 1)
        low = HEIGHT - BOTTOM
        for k in range(6):
            y = round(low - k / 5 * (low - TOP), 1)
            yield f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke-opacity=".15"/>'
            yield f'<text x="{LEFT - 5}" y="{y + 4}" text-anchor="end" stroke="none">{k / 5:.0%}</text>'
        every = -(-len(self.bars) // 6)
        for k, bar in enumerate(self.bars):
            y = low
            for (name, part), (colour, opacity) in zip(bar.parts.items(), FILLS, strict=False):
                tall = round(part * (low - TOP), 1)
                y = round(y - tall, 1)
                title = escape(f"{bar.label}: {name} {part:.0%}")
                yield (
                    f'<rect x="{self._left(k)}" y="{y}" width="{width}" height="{tall}" fill="{colour}" '
                    f'fill-opacity="{opacity}" stroke="none"><title>{title}</title></rect>'
                )
            if k % every == 0:
                middle = round(self._left(k) + width / 2, 1)
                yield f'<text x="{middle}" y="{low + 15}" text-anchor="middle" stroke="none">{escape(bar.label)}</text>'
        middle = (LEFT + WIDTH - RIGHT) / 2
        yield f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle" stroke="none">{escape(self.axis)}</text>'

    def _key(self):
        """The names of the parts, in the order in which they stand, from below."""
        for (name, _), (colour, opacity) in zip(self.bars[0].parts.items(), FILLS, strict=False):
            box = f'<rect width="12" height="12" fill="{colour}" fill-opacity="{opacity}"/>'
            box = f'<svg width="12" height="12" aria-hidden="true">{box}</svg>'
            yield f'<span style="white-space:nowrap;margin-right:1em">{box} {escape(name)}</span>'

    def _repr_html_(self):
        width = round(0.76 * (WIDTH - LEFT - RIGHT) / len(self.bars), 1)
        steps = [{"x": self._left(k), "text": bar.words} for k, bar in enumerate(self.bars)]
        now = len(steps) // 2
        data = json.dumps(steps).replace("<", "\\u003c")
        name = "parts-" + hashlib.sha1(self.alt.encode()).hexdigest()[:8]
        return (
            f'<figure class="drawing" id="{name}"><svg class="figure" role="img" aria-label="{escape(self.alt)}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" style="width:100%;max-width:560px;height:auto" font-size="12" '
            f'font-family="system-ui, sans-serif" fill="currentColor" stroke="currentColor">'
            f"<title>{escape(self.alt)}</title>{''.join(self._drawn())}"
            f'<rect data-mark x="{steps[now]["x"]}" y="{TOP}" width="{width}" height="{HEIGHT - BOTTOM - TOP}" '
            f'fill="none" stroke-width="2.5"/></svg>'
            f'<div style="font-size:85%">from below: {"".join(self._key())}</div>'
            f'<label hidden>{escape(self.axis)} <input type="range" min="0" max="{len(steps) - 1}" value="{now}" '
            f'style="width:60%;vertical-align:middle" aria-valuetext="{escape(steps[now]["text"])}"></label>'
            f'<figcaption aria-live="polite">{escape(steps[now]["text"])}</figcaption>'
            f'<script type="application/json">{data}</script><script>{SCRIPT % name}</script></figure>'
        )
