"""Draws stacks of calls as a flame graph (SVG). perf(1) itself can only write flame graphs as HTML with a script, which
documents cannot show."""

from html import escape
from zlib import crc32

from .chart import document, text

WIDTH, LINE, SIDE, TOP, FOOT = 1200, 16, 10, 40, 26
#: The narrowest frame that is drawn, in pixels, and the width of a letter.
NARROWEST, LETTER = 1.5, 6.2


class Frame:
    """A function with the functions that it called. `count` is the number of samples in this function or below."""

    def __init__(self, name):
        self.name, self.count, self.children = name, 0, {}

    def add(self, stack):
        self.count += 1
        if stack:
            if stack[0] not in self.children:
                self.children[stack[0]] = Frame(stack[0])
            self.children[stack[0]].add(stack[1:])

    @property
    def depth(self):
        return 1 + max((child.depth for child in self.children.values()), default=0)


def colour(name):
    """Returns the same warm colour for the same name."""
    number = crc32(name.encode())
    return f"rgb({205 + number % 50},{80 + (number >> 8) % 140},{40 + (number >> 16) % 40})"


def draw(frame, left, bottom, scale, total):
    """Draws a frame, and its children above it. The children are ordered by name."""
    width = frame.count * scale
    if width < NARROWEST:
        return []
    letters = int((width - 6) / LETTER)
    label = frame.name if len(frame.name) <= letters else frame.name[:letters - 1] + "…" if letters > 3 else ""
    parts = [f'<g><title>{escape(frame.name)}: {100 * frame.count / total:.1f} %</title>'
             f'<rect x="{left:.1f}" y="{bottom - LINE}" width="{width:.1f}" height="{LINE - 1}" '
             f'fill="{colour(frame.name)}"/>'
             + (text(left + 3, bottom - 5, label, size=10) if label else "") + "</g>"]
    for name in sorted(frame.children):
        parts += draw(frame.children[name], left, bottom - LINE, scale, total)
        left += frame.children[name].count * scale
    return parts


def chart(stacks, title, note):
    """Returns the text of the SVG. Each stack is a list of names, the outermost function first."""
    root = Frame("all samples")
    for stack in stacks:
        root.add(stack)
    height = TOP + root.depth * LINE + FOOT
    parts = draw(root, SIDE, height - FOOT, (WIDTH - 2 * SIDE) / max(root.count, 1), max(root.count, 1))
    return document(WIDTH, height, [text(SIDE, 22, title, size=15), *parts, text(SIDE, height - 9, note, size=10)])
