"""The program ``backhaul`` of the wheel, and ``python -m backhaul``: a demo, and the command line if it is installed.

The wheel does not contain the command line, which would almost double its size.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from . import __version__, _demo

_USAGE = """\
usage: backhaul demo        download a file from a local server, kill everything in the middle, and continue
       backhaul --version

The Python package does not contain the command line, and it is not in PATH. It is in the Debian package backhaul, and
in the tarball.
"""


def _command_line() -> str | None:
    """Returns the path of the command line: a program in PATH that is no script, as this program is."""
    for folder in os.get_exec_path():
        path = Path(folder) / "backhaul"
        if os.access(path, os.X_OK) and path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            return str(path)
    return None


def main() -> int:
    words = sys.argv[1:]
    if words == ["demo"]:
        return _demo.run()
    command = _command_line()
    if command:
        os.execv(command, ["backhaul", *words])
    if words == ["--version"]:
        print(f"backhaul {__version__}")
        return 0
    sys.stderr.write(_USAGE)
    return 2


if __name__ == "__main__":
    sys.exit(main())
