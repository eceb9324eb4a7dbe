"""Builds Swift packages that use bindings/swift. They share one build folder and have the same options, so that
bindings/swift is compiled only one time."""

import os
import subprocess
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2]
SCRATCH = _PROJECT / "build" / "swift" / "package"
# Package.swift of the project gives the reasons for these options of the compiler. A package of users has none.
_COMPILER = ["-whole-module-optimization", "-disable-batch-mode", "-num-threads", "1",
             "-no-emit-module-separately-wmo", "-index-ignore-system-modules"]
COMMAND = ["swift", "build", "--scratch-path", str(SCRATCH), *(word for one in _COMPILER for word in ("-Xswiftc", one))]
#: A test may set other variables, and the compiler has its cache in the home directory.
_ENVIRONMENT = dict(os.environ)


def build(package):
    """Builds the package in a folder, and returns the folder with its programs and modules."""
    ended = subprocess.run([*COMMAND, "--package-path", package], env=_ENVIRONMENT, capture_output=True, text=True,
                           check=False)
    errors = [line for line in ended.stdout.split("\n") if "error: " in line]
    assert ended.returncode == 0, "\n".join(errors) or ended.stdout + ended.stderr
    return SCRATCH / "debug"
