"""The output of the demo: titles, cells for events in columns, and a progress line if the output is a terminal."""

import os
import shutil
import sys
import threading

CELL = 38


def megabytes(count):
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


class Terminal:
    def __init__(self):
        self.live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.colour = self.live and "NO_COLOR" not in os.environ
        columns = shutil.get_terminal_size().columns if self.live else 120
        self.columns = max((columns - 3) // CELL, 1)
        self.cells = []
        self.number = 0
        # The lock is reentrant, because methods that hold it call each other.
        self.lock = threading.RLock()
        if not self.live:
            sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)

    def paint(self, code, text):
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def write(self, text):
        with self.lock:
            sys.stdout.write(("\r\x1b[K" if self.live else "") + text)
            sys.stdout.flush()

    def line(self, text):
        with self.lock:
            self.end_cells()
            self.write(text + "\n")

    def title(self, text):
        self.number += 1
        self.line("")
        self.line(self.paint("1", f"{self.number}. {text}"))

    def cell(self, name, size):
        with self.lock:
            room = CELL - 3 - len(size)
            name = name if len(name) <= room else name[: room - 1] + "…"
            self.cells.append(f"{name} {size}".ljust(CELL))
            if len(self.cells) == self.columns:
                self.end_cells()

    def end_cells(self):
        with self.lock:
            if self.cells:
                text, self.cells = "".join(self.cells).rstrip(), []
                self.write(self.paint("2", f"   {text}") + "\n")

    def progress(self, sent, total, events, files):
        if self.live:
            width = 30
            # Bytes that the server sends a second time are no progress.
            sent = min(sent, total)
            filled = width * sent // max(total, 1)
            self.write(f"   {'█' * filled}{'░' * (width - filled)}  {megabytes(sent)} of {megabytes(total)},"
                       f" {events} of {files} files")

    def verdict(self, held, text):
        mark = self.paint("32", "✓") if held else self.paint("31", "✗")
        self.line(f"   {mark} {text}")

    def conclusion(self, held, text):
        self.line("")
        self.line(self.paint("1;32" if held else "1;31", text))
