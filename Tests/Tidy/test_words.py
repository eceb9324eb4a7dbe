"""Retired words do not come back into comments, documentation and test names."""

import ast
import io
import re
import tokenize

import pytest
from tree import sources

#: Maps a retired word to what to write instead. Words for persons, such as "nobody", must not stand for programs. All
#: other words in the table have a plain synonym.
RETIRED = {
    r"whoever|whomever|whosoever": "name the process, thread or caller",
    r"nobody|somebody|someone|anybody|anyone": "name the process, thread or caller",
    r"anew": "again",
    r"in vain": "without success",
    r"lets? go|letting go": "release",
    r"gives? way|gave way|makes? room": "preempt",
    r"mends?|mended|mending": "repair, fix, restore",
    r"hears?|heard": "receive, be notified",
    r"learns?|learned": "receive, read, find out",
    r"told|tells?|telling": "report, notify, return, show",
    r"troubles?": "error, failure",
    r"left alone|leaves? alone": "leave unchanged, give up",
    r"held back|holds? back": "hold, delay",
    r"goes on|went on|going on": "continue",
    r"look(?:s|ed)? at|a look": "read, check",
    r"what is said|nothing is said": "what is set",
    r"nor (?:is|does|do|are)": "split the sentence",
    r"stirs?|stirred": "schedule, wake",
}
WORDS = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): plain for words, plain in RETIRED.items()}

#: Files that may have retired words, with the reason.
ALLOWED = {
    "CHANGELOG.md": "entries quote earlier versions",
    "docs/glossary.md": "it lists the replaced words",
    "Tests/Tidy/test_words.py": "it has the list",
}

#: Parts of a line in which a retired word is allowed: quotations, and the user account "nobody".
NAMES = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|user nobody|account nobody|nobody\(5\)")


def swift_prose(text):
    """Comments and the names of tests and suites, with their line numbers."""
    for number, line in enumerate(text.split("\n"), 1):
        if comment := re.search(r"(?:^|\s)///?(.*)", line):
            yield number, comment[1]
        if name := re.search(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"', line):
            yield number, name[1]


def python_prose(text):
    """Comments, docstrings and the names of tests, with their line numbers."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            for offset, line in enumerate(node.body[0].value.value.split("\n")):
                yield node.body[0].lineno + offset, line
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.lineno, node.name.replace("_", " ")


def c_prose(text):
    """Comments, with their line numbers."""
    for match in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL):
        first = text.count("\n", 0, match.start()) + 1
        for offset, line in enumerate(match[0].split("\n")):
            yield first + offset, line


def is_sample(line):
    """Returns whether a line of a document is part of a sample of code or output. Samples are indented."""
    return line.startswith("    ")


def prose(source):
    match source.path.suffix:
        case ".swift": return swift_prose(source.text)
        case ".py": return python_prose(source.text)
        case ".c" | ".h": return c_prose(source.text)
        case ".md": return [(number, line) for number, line in enumerate(source.lines, 1) if not is_sample(line)]
    return ()


def retired(lines):
    """Yields each retired word in the lines: the line number, the word, and what to write instead."""
    for number, line in lines:
        for pattern, plain in WORDS.items():
            for match in pattern.finditer(NAMES.sub("", line)):
                yield number, match[0], plain


def test_prose_has_no_retired_word():
    found = [f"{source.name}:{number}: {word!r}: {plain}" for source in sources() if source.name not in ALLOWED
             for number, word, plain in retired(prose(source))]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.parametrize(("suffix", "text"), [
    ("swift", "let told = 1 // is told\n"), ("swift", '@Test("a task is told")\n'),
    ("python", "told = 1  # is told\n"), ("python", 'def test_told():\n    """Sees."""\n'),
    ("python", '"""It is told."""\n'), ("c", "int told; /* it\n is told */\n"),
])
def test_the_search_finds_a_retired_word_in_prose_and_ignores_code(suffix, text):
    lines = {"swift": swift_prose, "python": python_prose, "c": c_prose}[suffix](text)
    assert [word for _, word, _ in retired(lines)] == ["told"]


#: Words that begin a message with a capital letter, because they are names.
PROPER = ("Authorization", "Backhaul", "Negotiate")
#: Texts of libcurl and nghttp2, with which the library compares.
QUOTED = ("Excess found", "Leftovers after chunking", "Invalid HTTP header field", "Violation in HTTP messaging")
#: The hint of a program after an error of its usage, as GNU programs have it.
HINT = r"Try `backhauld --help`.\n"
MESSAGE = re.compile(r'"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"')


def messages(source):
    """The texts with a space in a Swift file of the library, with their line numbers."""
    for number, line in enumerate(source.lines, 1):
        if not line.lstrip().startswith("//"):
            for match in MESSAGE.finditer(line):
                yield number, match[1]


def is_sentence(message):
    begins = re.match(r"[A-Z][a-z]+ ", message) and not message.startswith((*PROPER, *QUOTED))
    return begins or re.search(r"\w\.$", message)


def is_error(source, number):
    """Whether the line is in the library, or makes an error of the command line. The command line also prints notes,
    which are sentences."""
    line = source.lines[number - 1]
    return source.name.startswith("Sources/Backhaul") or ".usage(" in line or ".stopped(" in line


def test_error_messages_begin_with_a_small_letter_and_end_without_a_full_stop():
    found = [f"{source.name}:{number}: {message!r}" for source in sources()
             if source.name.startswith(("Sources/Backhaul", "Sources/backhaul/")) and source.path.suffix == ".swift"
             for number, message in messages(source)
             if is_error(source, number) and is_sentence(message) and message != HINT]
    assert not found, "\n".join(found)


#: A definition of a word of the glossary in parentheses, such as "the host (the program that embeds the library)".
DEFINITION = re.compile(
    r"\((?:(?:the|a|an) (?:program|process) that (?:embeds|uses) the library|the calling program"
    r"|a named collection of \w+|(?:downloads|uploads) and (?:uploads|downloads)|the right to run|demands on the system"
    r"|the process that runs the \w+|the directory with all (?:durable )?data)\)")


def test_only_the_glossary_defines_the_words_of_the_project():
    found = [f"{source.name}:{number}: {match[0]}" for source in sources()
             if source.name.startswith(("Sources/", "Tests/")) and source.name != "Tests/Tidy/test_words.py"
             for number, line in prose(source) if (match := DEFINITION.search(line))]
    assert not found, "\n".join(found)
