"""Draws the series of bench/growth as SVG: one field for each series, with the measured costs and the fitted curves."""

from math import ceil, floor, log10
from statistics import median

from .chart import line, text
from .growth import seconds

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 480, 340, 70, 60, 20, 50
COLOURS = {"wall": "#2f6fab", "cpu": "#d98324"}
NAMES = {"wall": "wall time", "cpu": "processor time"}
STEPS = 60


class Axis:
    """A logarithmic axis from `first` to `last`, in coordinates of the SVG."""

    def __init__(self, values, first, last):
        low, high = log10(min(values)), log10(max(values))
        margin = (high - low) * 0.04
        self._low, self._high, self._first, self._last = low - margin, high + margin, first, last

    def at(self, value):
        share = (log10(value) - self._low) / (self._high - self._low)
        return self._first + share * (self._last - self._first)

    def powers(self):
        """Returns the powers of ten on the axis."""
        return [10 ** power for power in range(ceil(self._low), floor(self._high) + 1)]


def number(value):
    """Returns a large number in a short form, such as 10k."""
    for factor, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= factor:
            return f"{value / factor:g}{letter}"
    return f"{value:g}"


def costs(points, fits):
    """Returns all costs that a field shows."""
    measured = [cost for point in points for figure in COLOURS for cost in getattr(point, figure)]
    return measured + [curve.at(point.x) for point in points for curve in fits.values() if curve.at(point.x) > 0]


def curve(fitted, colour, x, y, points):
    """Draws a fitted curve."""
    first, last = points[0].x, points[-1].x
    values = [first * (last / first) ** (step / STEPS) for step in range(STEPS + 1)]
    places = " ".join(f"{x.at(value):.1f},{y.at(fitted.at(value)):.1f}" for value in values if fitted.at(value) > 0)
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def field(series, points, fits, left, top):
    """Draws one series. A vertical line goes from the minimum to the maximum of a cost, and a dot shows the median."""
    x = Axis([point.x for point in points], left + LEFT, left + WIDTH - RIGHT)
    y = Axis(costs(points, fits), top + HEIGHT - BOTTOM, top + TOP)
    lowest, highest = top + HEIGHT - BOTTOM, top + TOP - 8
    parts = [text(left + LEFT, top + 18, f"{series.name}: {series.unit}", size=13)]
    for value in x.powers():
        parts += [line(x.at(value), lowest, x.at(value), highest, "#dddddd"),
                  text(x.at(value), lowest + 16, number(value), "middle", 11)]
    for value in y.powers():
        parts += [line(left + LEFT, y.at(value), left + WIDTH - RIGHT, y.at(value), "#dddddd"),
                  text(left + LEFT - 6, y.at(value) + 4, seconds(value), "end", 11)]
    for row, (figure, colour) in enumerate(COLOURS.items()):
        parts.append(curve(fits[figure], colour, x, y, points))
        parts += [f'<text x="{left + LEFT}" y="{top + 34 + 14 * row}" font-size="11" fill="{colour}">'
                  f"{NAMES[figure]}: {fits[figure].text}</text>"]
        for point in points:
            values = getattr(point, figure)
            place = x.at(point.x)
            parts += [line(place, y.at(min(values)), place, y.at(max(values)), colour, 2),
                      f'<circle cx="{place:.1f}" cy="{y.at(median(values)):.1f}" r="3.5" fill="{colour}"/>']
    return parts


def chart(results, note):
    """Returns the text of the SVG. `results` has a triple for each series: the series, its points, and its fits."""
    rows = (len(results) + 1) // 2
    height = 50 + rows * HEIGHT + 30
    parts = [text(10, 24, "Cost of downloads with a daemon (both axes are logarithmic; dots are medians)", size=16)]
    for index, (series, points, fits) in enumerate(results):
        parts += field(series, points, fits, index % 2 * WIDTH, 40 + index // 2 * HEIGHT)
    parts.append(text(10, height - 12, note, size=11))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{height}" font-family="sans-serif">'
            f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")
