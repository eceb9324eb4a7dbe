"""Builds Swift packages that use bindings/swift. They share one build folder and have the same options, so that
bindings/swift is compiled only one time."""

import os
import re
import subprocess
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2]
SCRATCH = _PROJECT / "build" / "swift" / "package"
# The options of the compiler that the project's own debug build has. The Package.swift of bindings/swift has none of
# them, because a package that hosts depend on must not have such options.
_FLAGS = re.search(r"unsafeFlags\(\s*\[(.*?)\], \.when\(configuration: \.debug\)",
                   (_PROJECT / "Package.swift").read_text(encoding="utf-8"), re.S)
_COMPILER = re.findall(r'"(.*?)"', _FLAGS[1])
# The index for editors, in which the build tool finds tests, leaves out the declarations of the system's modules: a
# quarter of the build.
_COMPILER.append("-index-ignore-system-modules")
COMMAND = ["swift", "build", "--scratch-path", str(SCRATCH), "-debug-info-format", "none",
           *(word for one in _COMPILER for word in ("-Xswiftc", one))]
#: A test may set other variables, and the compiler has its cache in the home directory.
_ENVIRONMENT = dict(os.environ)


def build(package):
    """Builds the package in a folder, and returns the folder with its programs and modules."""
    ended = subprocess.run([*COMMAND, "--package-path", package], env=_ENVIRONMENT, capture_output=True, text=True,
                           check=False)
    errors = [line for line in ended.stdout.split("\n") if "error: " in line]
    assert ended.returncode == 0, "\n".join(errors) or ended.stdout + ended.stderr
    return SCRATCH / "debug"
