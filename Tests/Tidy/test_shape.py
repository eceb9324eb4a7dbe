"""The shape of the code: functions fit on a screen, and classes have few stored properties."""

import re

import pytest

from tree import PROJECT

LONGEST_FUNCTION = 70
MOST_PROPERTIES = 16
#: Functions that may be longer than a screen, with the reason.
LONG_FUNCTIONS = {}
#: Classes that may have more than MOST_PROPERTIES, with the reason.
LARGE_CLASSES = {
    "ConditionsWatch": "it has the last value and the source of each condition, and little other state",
    "Transaction": "it has one constant for each group of operations, and no other state",
    "Watch": "it is the screen of one command, with the rows, the terminal and the pace of the screen",
}
MOST_EXTENDING_FILES = 2
#: Modules in which only a few files may extend a type.
WHOLE_TYPES = ("BackhaulEngine", "BackhaulStore")
#: Types that may be extended in more than MOST_EXTENDING_FILES files of their module, with the reason.
EXTENDED = {
    "Row": "the file of each table extends Row, to read the columns of this table; no extension has state",
    "StoreDirectory": "it has two constants; its extensions open files, lock the store, and find out if it was moved",
}

MOST_USING_FILES = 3
#: Classes whose variables may be used in more than MOST_USING_FILES files, with the reason.
WIDELY_USED = {
    "ClientConnection": "the state of one connection, which the commands of its client change",
    "RunningAttempt": "what downloads and uploads share: a value that a runner has, in place of a base class",
}

FUNCTION = re.compile(
    r"^( *)(?:@\w+(?:\([^)]*\))? )*(?:(?:public|private|fileprivate|static|final|override|mutating|convenience"
    r"|nonisolated) )*(?:func (\w+)|(init)[?!]?\(|(deinit)|(subscript))")
CLASS = re.compile(r"^(?:public )?final class (\w+)", re.M)
TYPE = re.compile(r"^(?:public )?(?:final class|struct) (\w+)", re.M)
#: The pattern does not match an extension that adds a conformance, because such an extension may have its own file.
EXTENSION = re.compile(r"^(?:(?:public|private|fileprivate) )?extension (\w+)(?: where [^:{]*)? \{", re.M)
STORED = re.compile(
    r"^    (?:private |private\(set\) |public |unowned |weak |lazy |static |nonisolated )*(?:var|let) \w+")


def sources():
    return sorted((PROJECT / "Sources").rglob("*.swift"))


def functions(path):
    """Yields the name, the first line and the number of lines of each function."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        found = FUNCTION.match(line)
        if not found:
            continue
        indent = found.group(1)
        # The function ends at the next brace with the same indentation. A function that a protocol requires has no
        # body.
        for end in range(number, len(lines)):
            if lines[end].startswith(indent + "}") or (end == number and lines[end].rstrip().endswith("}")):
                yield next(filter(None, found.groups()[1:])), number + 1, end - number + 1
                break
            if end > number and re.match(indent + r"[^\s)}]", lines[end]):
                break


def stored_properties(path):
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]
    begin = next(number for number, line in enumerate(lines) if CLASS.match(line))
    end = lines.index("}", begin)
    return [line for line in lines[begin:end]
            if STORED.match(line) and " static " not in line and not re.search(r"\{( .* \})?$", line)]


def test_functions_fit_on_a_screen():
    long = {f"{path.name}: {name}": f"{path.relative_to(PROJECT)}:{line}: {count} lines"
            for path in sources() for name, line, count in functions(path) if count > LONGEST_FUNCTION}
    assert {key: place for key, place in long.items() if key not in LONG_FUNCTIONS} == {}
    assert set(LONG_FUNCTIONS) <= set(long), "a reason that is not needed any more"


def test_the_pattern_finds_the_functions_of_the_code():
    assert sum(1 for path in sources() for _ in functions(path)) > 3_000


def classes():
    return [pytest.param(path, id=path.stem) for path in sources() if CLASS.search(path.read_text())]


@pytest.mark.parametrize("path", classes())
def test_a_class_has_few_stored_properties(path):
    name = CLASS.search(path.read_text()).group(1)
    assert len(stored_properties(path)) <= MOST_PROPERTIES or name in LARGE_CLASSES


def extending_files():
    """Maps each class and struct of the modules WHOLE_TYPES to the other files of the module that extend the type."""
    found = {}
    for module in WHOLE_TYPES:
        texts = {path: path.read_text() for path in sources() if path.is_relative_to(PROJECT / "Sources" / module)}
        own = {name: path for path, text in texts.items() for name in TYPE.findall(text)}
        for path, text in texts.items():
            for name in set(EXTENSION.findall(text)) & set(own):
                if path != own[name]:
                    found.setdefault(name, []).append(str(path.relative_to(PROJECT)))
    return found


def test_a_type_is_extended_in_few_files():
    many = {name: files for name, files in extending_files().items() if len(files) > MOST_EXTENDING_FILES}
    assert {name: files for name, files in many.items() if name not in EXTENDED} == {}
    assert set(EXTENDED) <= set(many), "a reason that is not needed any more"


def variables(text):
    """Returns the name of the class in a file, and the stored variables of the class that other files can see."""
    begin = CLASS.search(text)
    if not begin:
        return None, []
    body = text[begin.start():].split("\n}\n")[0]
    visible = r"^    (?:(?:public|unowned|weak|lazy|private\(set\)) )*var (\w+)(?!.*\{ )[^{\n]*$"
    return begin.group(1), re.findall(visible, body, re.M)


def using_files(module):
    """Maps each class of a module to the other files that use one of its variables.

    The search finds the uses of a variable by the variable's name. So a variable counts only if its name is unique in
    the module.
    """
    texts = {path: path.read_text() for path in sources() if path.is_relative_to(PROJECT / "Sources" / module)}
    declared = [name for text in texts.values() for name in re.findall(r"\b(?:var|let|func) (\w+)", text)]
    found = {}
    for path, text in texts.items():
        name, visible = variables(text)
        own = [one for one in visible if declared.count(one) == 1]
        found[name] = {other for other, used in texts.items() for one in own
                       if other != path and re.search(rf"\.{one}\b", used)}
    return found


def test_the_variables_of_a_class_are_used_in_few_files():
    modules = ("BackhaulEngine", "BackhaulStore", "BackhaulClient", "BackhaulTransport", "BackhaulDisk")
    wide = {name for module in modules for name, files in using_files(module).items() if len(files) > MOST_USING_FILES}
    assert wide == set(WIDELY_USED)
