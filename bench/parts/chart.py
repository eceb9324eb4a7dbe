"""Draws a chart as SVG. For each row (measurement) of the bench, the chart shows Backhaul's wall time relative to
curl's wall time. It also shows the bar: the limit that the project requires."""

from math import log2
from statistics import median
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, LINE = 960, 300, 60, 70, 30
LOWEST, HIGHEST = 0.25, 8.0
OTHERS = {"raw, sync each": "#d98324", "raw, sync all": "#7a9e3f", "wget2": "#8d6cab", "aria2c": "#999999"}
BACKHAUL, BROKEN, BAR = "#2f6fab", "#b83232", "#111111"


def x(ratio):
    """Returns the horizontal position of a ratio on the logarithmic axis."""
    share = log2(min(max(ratio, LOWEST), HIGHEST) / LOWEST) / log2(HIGHEST / LOWEST)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def text(left, top, words, anchor="start", size=12, colour="#000000"):
    return (f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
            f"{escape(words)}</text>")


def document(width, height, parts):
    """Returns the text of an SVG with these elements on a white ground."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">'
            '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def line(left, top, right, bottom, colour, width=1):
    return (f'<line x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"/>')


def limit_of(result):
    """Returns the row's bar (its limit) for the wall time, as a ratio to curl's wall time. Returns None if the row has
    no such bar.

    A reference is a program with which the bar compares Backhaul. The bar has a limit for each reference: a ratio to
    the reference's wall time. This function multiplies each limit by the ratio of the reference's wall time to curl's
    wall time, and returns the highest product.
    """
    for bar in result["bars"]:
        limits = [limit * median(result["wall_ratios"][name]) for name, limit in bar["limits"]
                  if name in result["wall_ratios"]]
        if bar["figure"] == "wall" and limits:
            return max(limits)
    return None


def axis(bottom):
    ratio, parts = LOWEST, []
    while ratio <= HIGHEST:
        parts += [line(x(ratio), TOP - 8, x(ratio), bottom, "#555555" if ratio == 1 else "#dddddd"),
                  text(x(ratio), TOP - 14, "curl" if ratio == 1 else f"{ratio:g} ×", "middle")]
        ratio *= 2
    return parts


def row(result, top):
    """Draws a rectangle from curl to Backhaul's median, a line from Backhaul's minimum to its maximum, a dot for each
    other program, and the bar."""
    ratios, limit, middle = result["wall_ratios"], limit_of(result), top + LINE / 2
    own = ratios["Backhaul"]
    colour = BROKEN if limit is not None and median(own) > limit else BACKHAUL
    left, right = sorted((x(1), x(median(own))))
    parts = [
        text(LEFT - 10, middle + 4, f"{result['row']} over {result['protocol']}", "end"),
        f'<rect x="{left:.1f}" y="{top + 7}" width="{right - left:.1f}" height="{LINE - 14}" fill="{colour}"/>',
        line(x(min(own)), middle, x(max(own)), middle, "#000000"),
    ]
    for name, other in OTHERS.items():
        if name in ratios:
            parts.append(f'<circle cx="{x(median(ratios[name])):.1f}" cy="{middle}" r="4" fill="{other}"/>')
    if limit is not None:
        parts.append(line(x(limit), top + 2, x(limit), top + LINE - 2, BAR, 3))
    return [*parts, text(WIDTH - 8, middle + 4, f"{median(own):.2f}", "end")]


def legend(top):
    parts = [f'<rect x="{LEFT}" y="{top - 9}" width="14" height="10" fill="{BACKHAUL}"/>',
             text(LEFT + 20, top, "Backhaul"),
             f'<rect x="{LEFT + 90}" y="{top - 9}" width="14" height="10" fill="{BROKEN}"/>',
             text(LEFT + 110, top, "above its bar"),
             line(LEFT + 210, top - 11, LEFT + 210, top + 3, BAR, 3), text(LEFT + 220, top, "bar")]
    for number, (name, colour) in enumerate(OTHERS.items()):
        left = LEFT + 270 + number * 95
        parts += [f'<circle cx="{left}" cy="{top - 4}" r="4" fill="{colour}"/>', text(left + 8, top, name, size=11)]
    return parts


def chart(results, note):
    """Returns the text of the SVG."""
    bottom = TOP + LINE * len(results)
    parts = [text(10, 24, "Wall time relative to curl -Z (medians, logarithmic; left of curl is faster)", size=16),
             *axis(bottom)]
    for number, result in enumerate(results):
        parts += row(result, TOP + LINE * number)
    parts += [*legend(bottom + 26), text(10, bottom + 52, note, size=11)]
    return document(WIDTH, bottom + 64, parts)
