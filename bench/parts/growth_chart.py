"""Draws the series of bench/growth as SVG: one panel for each series, with the measured costs and the fitted curves."""

from math import ceil, floor, log10
from statistics import median

from .chart import document, line, text
from .growth import FIGURES, time_text

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 480, 340, 70, 60, 20, 50
COLOURS = {"wall": "#2f6fab", "cpu": "#d98324"}
CURVE_STEPS = 60


class Axis:
    """A logarithmic axis from `first` to `last`, in coordinates of the SVG. It covers at least a factor of 10, so that
    small differences look small."""

    def __init__(self, values, first, last):
        low, high = log10(min(values)), log10(max(values))
        margin = max((high - low) * 0.04, (1 - (high - low)) / 2)
        self._low, self._high, self._first, self._last = low - margin, high + margin, first, last

    def at(self, value):
        share = (log10(value) - self._low) / (self._high - self._low)
        return self._first + share * (self._last - self._first)

    def marks(self):
        """Returns the powers of ten on the axis. If the axis is short, returns their multiples by 2 and 5, too."""
        digits = (1,) if self._high - self._low > 2 else (1, 2, 5)
        marks = [digit * 10 ** power for power in range(floor(self._low), ceil(self._high)) for digit in digits]
        return [mark for mark in marks if self._low <= log10(mark) <= self._high]


def short_number(value):
    """Returns a large number in a short form, such as 10k."""
    for factor, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= factor:
            return f"{value / factor:g}{letter}"
    return f"{value:g}"


def costs(points, fits):
    """Returns all costs that a panel shows."""
    measured = [cost for point in points for figure in COLOURS for cost in getattr(point, figure)]
    return measured + [fit.at(point.x) for point in points for fit in fits.values() if fit.at(point.x) > 0]


def draw_curve(fitted, colour, x, y, points):
    """Draws a fitted curve."""
    first, last = points[0].x, points[-1].x
    values = [first * (last / first) ** (step / CURVE_STEPS) for step in range(CURVE_STEPS + 1)]
    places = " ".join(f"{x.at(value):.1f},{y.at(fitted.at(value)):.1f}" for value in values if fitted.at(value) > 0)
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def panel(series, points, fits, left, top):
    """Draws one series. A vertical line goes from the minimum to the maximum of a cost, and a dot shows the median."""
    x = Axis([point.x for point in points], left + LEFT, left + WIDTH - RIGHT)
    y = Axis(costs(points, fits), top + HEIGHT - BOTTOM, top + TOP)
    lowest, highest = top + HEIGHT - BOTTOM, top + TOP - 8
    parts = [text(left + LEFT, top + 18, f"x: {series.unit}", size=13)]
    for value in x.marks():
        parts += [line(x.at(value), lowest, x.at(value), highest, "#dddddd"),
                  text(x.at(value), lowest + 16, short_number(value), "middle", 11)]
    for value in y.marks():
        parts += [line(left + LEFT, y.at(value), left + WIDTH - RIGHT, y.at(value), "#dddddd"),
                  text(left + LEFT - 6, y.at(value) + 4, time_text(value), "end", 11)]
    for row, (figure, colour) in enumerate(COLOURS.items()):
        parts.append(draw_curve(fits[figure], colour, x, y, points))
        words = f"{FIGURES[figure]}: {fits[figure].text} (deviation: {fits[figure].deviation:.0%} at most)"
        parts.append(text(left + LEFT, top + 34 + 14 * row, words, size=11, colour=colour))
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
        parts += panel(series, points, fits, index % 2 * WIDTH, 40 + index // 2 * HEIGHT)
    parts.append(text(10, height - 12, note, size=11))
    return document(2 * WIDTH, height, parts)
