"""The example programs, each as the words of its command."""

import functools
import sys
from pathlib import Path

import swift_packages

_PROJECT = Path(__file__).resolve().parents[2]
_EXAMPLES = _PROJECT / "examples"
LANGUAGES = ["c", "python", "swift"]


def c(name):
    return [_PROJECT / "build" / "examples" / name]


def python(name):
    return [sys.executable, "-W", "error", _EXAMPLES / "python" / f"{name}.py"]


@functools.cache
def swift(name):
    return [swift_packages.build(_EXAMPLES / "swift" / name) / name]


def program(language, name):
    return {"c": c, "python": python, "swift": swift}[language](name)
