"""One kernel under one roof as a small SVG, for messages: plot.py draws the same with Matplotlib, for pages."""

import math
from html import escape

from .plot import alt_text
from .table import with_unit

WIDTH, HEIGHT = 420, 230
LEFT, RIGHT, TOP, BOTTOM = 72, 14, 26, 40
_LETTER = 6  # the width of one, about


def roof_picture(point, roof):
    """{"svg", "alt"}: a Point under a Roof, both axes logarithmic."""
    low, high = min(point.intensity, roof.ridge) / 6, max(point.intensity, roof.ridge) * 6
    top, bottom = max(roof.peak, point.rate) * 2, min(roof.at(low), point.rate) / 2

    def x(intensity):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(intensity / low) / math.log(high / low)

    def y(rate):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(rate / bottom) / math.log(top / bottom)

    corners = " ".join(f"{x(i):.1f},{y(roof.at(i)):.1f}" for i in (low, roof.ridge, high))
    px, py, above = x(point.intensity), y(point.rate), y(roof.at(point.intensity))
    base = HEIGHT - BOTTOM
    share = f"{point.rate / roof.at(point.intensity):.0%} of the roof"
    side, anchor = ("end", px - 8) if px > 0.65 * WIDTH else ("start", px + 8)
    reach = _LETTER * len(f"{point.name}: {share}") * (1 if side == "start" else -1)
    crossed = min(anchor, anchor + reach) < x(roof.ridge) < max(anchor, anchor + reach)
    gap = f"V{py + 18:.1f}M{x(roof.ridge):.1f} {py + 2:.1f}" if crossed else ""  # for the words
    words = [
        f"<text x='{WIDTH - RIGHT}' y='{y(roof.peak) - 6:.1f}' text-anchor='end'>{escape(roof.label)}: "
        f"{with_unit(roof.peak, 'FLOP/s')}, {with_unit(roof.bandwidth, 'B/s')}</text>",
        f"<text x='{anchor:.1f}' y='{py + 14:.1f}' text-anchor='{side}'>{escape(point.name)}: {share}</text>",
        f"<text x='{px:.1f}' y='{base + 15}' text-anchor='middle'>{point.intensity:.3g}</text>",
        f"<text x='{x(roof.ridge):.1f}' y='{base + 15}' text-anchor='middle'>{roof.ridge:.3g}</text>"
        if abs(px - x(roof.ridge)) > 40  # else it would stand in the point's own number
        else "",
        f"<text x='{(LEFT + WIDTH - RIGHT) / 2:.1f}' y='{HEIGHT - 6}' text-anchor='middle'>FLOP per byte</text>",
        f"<text x='2' y='{py + 4:.1f}'>{with_unit(point.rate, 'FLOP/s', digits=1)}</text>",
    ]
    lines = [
        f"<path d='M{LEFT} {TOP}V{base}H{WIDTH - RIGHT}' opacity='.5'/>",
        f"<polyline points='{corners}' stroke-width='2'/>",
        f"<path d='M{px:.1f} {py:.1f}V{above:.1f}M{x(roof.ridge):.1f} {base}{gap}V{y(roof.peak):.1f}' "
        "stroke-dasharray='3 3'/>",
    ]
    alt = alt_text([point], roof)
    svg = (
        f"<svg role='img' aria-label='{escape(alt)}' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}' "
        "style='max-width:100%;font:11px sans-serif' fill='currentColor' stroke='none'>"
        f"<title>{escape(alt)}</title><g fill='none' stroke='currentColor'>{''.join(lines)}</g>"
        f"<circle cx='{px:.1f}' cy='{py:.1f}' r='5'/>{''.join(words)}</svg>"
    )
    return {"svg": svg, "alt": alt}
