"""Reads the files of the project for the tidy tests."""

import functools
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from schema import header as schema_header

PROJECT = Path(__file__).resolve().parents[2]
BUILT = {"build", ".build", ".git", "__pycache__"}
TEXT = {"", ".swift", ".c", ".cpp", ".h", ".py", ".md", ".toml", ".txt", ".map", ".in", ".modulemap", ".yml", ".cfg"}


@dataclass(frozen=True)
class Source:
    path: Path
    lines: tuple

    @property
    def name(self):
        return str(self.path.relative_to(PROJECT))

    @property
    def text(self):
        return "\n".join(self.lines)

    def imports(self):
        """Returns pairs of line number and module."""
        pattern = re.compile(r"\s*(?:@\S+\s+)*(?:\w+ )?import (?:(?:struct|class|enum|func|var) )?(\w+)")
        return [(number, match[1]) for number, line in enumerate(self.lines, 1) if (match := pattern.match(line))]

    def matches(self, pattern):
        """Returns the numbers of the lines whose code contains the pattern. Comments do not count."""
        return [number for number, line in enumerate(self.lines, 1)
                if not line.lstrip().startswith(("//", "#", "*", "/*")) and re.search(pattern, line.split(" // ")[0])]

    def has_reason(self, number, words):
        """Returns True if a comment contains one of the words. The comment must be directly above the line, in the
        line, or in the next line."""
        above = number - 1
        while above > 0 and re.match(r"\s*(//|@)", self.lines[above - 1]):
            above -= 1
        near = [*self.lines[above:number - 1], *self.lines[number:number + 1], self.lines[number - 1]]
        return any("//" in line and any(word in line for word in words) for line in near)


@functools.cache
def kept():
    """Returns the names of all files that git tracks or would track."""
    names = subprocess.run(["git", "-C", PROJECT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(filter(None, names))


@functools.cache
def sources():
    """Returns the text files of the working tree that git tracks or would track."""
    found = []
    for name in kept():
        path = PROJECT / name
        if path.suffix in TEXT and path.is_file() and not BUILT & set(path.relative_to(PROJECT).parts):
            found.append(Source(path, tuple(path.read_text(encoding="utf-8").splitlines())))
    return found


def swift(*folders):
    """Returns the Swift files below the folders, which are relative to the project's root."""
    return [source for source in sources()
            if source.path.suffix == ".swift" and source.name.startswith(tuple(f"{folder}/" for folder in folders))]


@functools.cache
def header():
    """Returns the declarations of include/backhaul.h."""
    return schema_header.read()


@functools.cache
def kit():
    """Returns the declarations of include/backhaul_testing.h."""
    return schema_header.read(schema_header.KIT)


@functools.cache
def targets():
    """Maps each target to the targets that it may import, according to Package.swift."""
    package = subprocess.run(
        ["swift", "package", "--package-path", PROJECT, "--scratch-path", PROJECT / "build" / "swift" / "debug",
         "dump-package"], check=True, capture_output=True, text=True).stdout
    return {target["name"]: {next(iter(dependency.values()))[0] for dependency in target["dependencies"]}
            for target in json.loads(package)["targets"]}
