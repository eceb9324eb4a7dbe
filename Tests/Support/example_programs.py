"""The example programs, each as the words of its command."""

import functools
import os
import subprocess
import sys
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2]
_EXAMPLES = _PROJECT / "examples"
LANGUAGES = ["c", "python", "swift"]
#: A test may set other variables for an example, and the compiler has its cache in the home directory.
_ENVIRONMENT = dict(os.environ)


def c(name):
    return [_PROJECT / "build" / "examples" / name]


def python(name):
    return [sys.executable, "-W", "error", _EXAMPLES / "python" / f"{name}.py"]


@functools.cache
def swift(name):
    # All tests that use the Swift package share one build folder, so that the package is compiled only one time.
    scratch = _PROJECT / "build" / "swift" / "package"
    built = subprocess.run(["swift", "build", "--package-path", _EXAMPLES / "swift" / name, "--scratch-path", scratch],
                           env=_ENVIRONMENT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return [scratch / "debug" / name]


def program(language, name):
    return {"c": c, "python": python, "swift": swift}[language](name)
