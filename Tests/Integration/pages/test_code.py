"""Each block of code of the documents is valid: C is compiled, Python is checked by mypy, the shell parses its scripts,
and `backhaul` knows the commands and options. test_start.py runs the programs of the start pages, and test_swift.py
compiles the Swift code."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from schema import header as schema_header

from .blocks import PROJECT, blocks, documents

HERE = Path(__file__).parent
COMMAND = PROJECT / "build" / "bin" / "backhaul"
#: Files that the commands of the documents read.
FILES = ["1.jpg", "app.log", "list.txt", "password.txt", "token.txt"]


def run(*command, text=None):
    ended = subprocess.run(command, input=text, cwd=PROJECT, capture_output=True, text=True, check=False)
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr


def is_program(text):
    return "int main(" in text


def in_a_function(block):
    lines = textwrap.indent(block.text, "    ")
    return f'#include "{HERE}/context.h"\nFRAGMENT {{\n    NAMES\n#line {block.line + 1}\n{lines}    return 0;\n}}\n'


def test_each_block_of_c_compiles(tmp_path):
    sources = []
    for block in blocks("c"):
        sources.append(tmp_path / f"{block.name}.c")
        sources[-1].write_text(block.text if is_program(block.text) else in_a_function(block))
    errors = run("clang", "-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic",
                 "-I", PROJECT / "include", *sources)
    if errors:
        pytest.fail(errors, pytrace=False)


def python_module(block):
    """A block that imports what it needs is a module of its own. Other blocks are fragments."""
    if re.search(r"^(from|import) ", block.text, re.MULTILINE):
        return block.text
    # A name that the fragment assigns would be a local name of the function, so it is declared as global.
    assigned = re.findall(r"^ *(\w+)(?:, \w+)* = ", block.text, re.MULTILINE)
    names = sorted({"token", "valid_until", "session"} & set(assigned))
    first = f"    global {', '.join(names)}\n" if names else ""
    return f"from context import *\n\ndef fragment() -> None:\n{first}{textwrap.indent(block.text, '    ')}"


def test_each_block_of_python_has_correct_types(tmp_path):
    folder = tmp_path / "blocks"
    folder.mkdir()
    shutil.copy(HERE / "context.py", folder)
    for block in blocks("python"):
        (folder / f"{block.name}.py").write_text(python_module(block))
    errors = run(sys.executable, "-m", "mypy", "--cache-dir", PROJECT / "build" / "mypy", "--pretty",
                 "--check-untyped-defs", "--disable-error-code", "no-untyped-def", folder)
    if errors:
        pytest.fail(errors, pytrace=False)


def shell_scripts():
    """The blocks for the shell, and the commands of the blocks with the output of a terminal."""
    yield from ((block, block.text) for block in blocks("sh"))
    for block in blocks("console"):
        yield block, "\n".join(re.findall(r"^\$ (.*)$", block.text, flags=re.M)) + "\n"


@pytest.mark.parametrize(("block", "text"), [pytest.param(*one, id=one[0].place) for one in shell_scripts()])
def test_the_shell_parses_each_block(block, text):
    errors = run("bash", "-n", text=text)
    if errors:
        pytest.fail(errors, pytrace=False)


def backhaul_commands(text):
    """Yields the words of each call of `backhaul` in a script."""
    for line in text.replace("\\\n", " ").split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.wordchars += "@%+:=,{}?#"
        words = [*lexer, ";"]
        while words:
            end = next(at for at, word in enumerate(words) if not set(word) - set("();<>|&"))
            names = [Path(word).name for word in words[:end]]
            if "backhaul" in names and "pkg-config" not in names:
                yield words[names.index("backhaul") + 1:end]
            words = words[end + 1:]


def calls():
    return [pytest.param(words, id=f"{block.place} {' '.join(words)}") for block, text in shell_scripts()
            for words in backhaul_commands(text) if words[0] != "service"]


@pytest.mark.parametrize("words", calls())
def test_backhaul_accepts_the_command_line(words, tmp_path):
    """The store cannot be made, so an accepted command does nothing. A wrong command line ends with 2."""
    home = tmp_path / "home"
    home.mkdir()
    for name in FILES:
        (home / name).write_text("https://example.org/\n" if name == "list.txt" else "Authorization: Bearer abc\n")
        (home / name).chmod(0o600)  # demanded for a file with a password
    words = [re.sub("/home/me|/var/log|/var/lib/photos", str(home), word) for word in words]
    store = {"BACKHAUL_STORE": "/dev/null/store", "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    ended = subprocess.run([COMMAND, *words], cwd=home, env={**os.environ, **store}, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=False)
    assert ended.returncode != 2, ended.stderr


def test_the_documents_name_only_constants_and_functions_of_the_header():
    known = schema_header.PROJECT / "include" / "backhaul.h"
    names = set(re.findall(r"\bbh_\w+|\bBH_\w+", known.read_text(encoding="utf-8")))
    names |= {f"BH_{name}" for name in re.findall(r"^    X\((\w+),", known.read_text(encoding="utf-8"), re.MULTILINE)}
    wrong = []
    for path in documents():
        for name in re.findall(r"`(BH_[A-Z_0-9]+|bh_[a-z_]+)(?:\(\))?`", path.read_text(encoding="utf-8")):
            if name not in names and not any(one.startswith(name) for one in names):
                wrong.append(f"{path.relative_to(PROJECT)}: {name}")
    assert not wrong, "\n".join(wrong)
