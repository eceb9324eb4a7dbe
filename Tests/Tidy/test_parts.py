"""The engine, which runs the uploads and downloads, consists of parts. A part is an object that owns the state of one
subject, and does not refer to the whole engine (docs/internals/engine.md)."""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[2] / "Sources" / "BackhaulEngine"
# Folders whose files may use the whole engine. They perform the commands of programs, or they perform the actions that
# parts have returned (effects).
WHOLE = {"Loop", "Commands"}
MOST_PROPERTIES = 16
# Types that contain the state of one running task, and the reason why other types may use their properties.
OF_A_TASK = {
    "RunningAttempt": "the state that a download and an upload have in common; their runners use it",
}
STORED = re.compile(r"^    (?:private |private\(set\) |unowned |weak |lazy )*(?:var|let) \w+")


def is_part(path):
    is_whole = path.parent == ENGINE or path.parent.name in WHOLE or path.stem in OF_A_TASK
    text = path.read_text()
    return not is_whole and "any Runtime" in text and "final class " in text


def parts():
    return [pytest.param(path, id=path.stem) for path in sorted(ENGINE.rglob("*.swift")) if is_part(path)]


def code(path):
    return [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]


def stored_properties(path):
    """Returns the lines that declare stored properties of the file's class. A line that ends with a body in braces, or
    with an opening brace, declares a computed property. Such a line is left out."""
    lines = code(path)
    begin = next(number for number, line in enumerate(lines) if re.match(r"(?:public )?final class ", line))
    end = lines.index("}", begin)
    return [line for line in lines[begin:end] if STORED.match(line) and not re.search(r"\{( .* \})?$", line)]


def test_these_tests_find_the_parts_of_the_engine():
    assert len(parts()) >= 30


@pytest.mark.parametrize("path", [*parts(), *ENGINE.rglob("Running*.swift"), *ENGINE.rglob("*Runner*.swift")])
def test_a_part_does_not_refer_to_the_whole_engine(path):
    assert not [line for line in code(path) if "EngineLoop" in line]


@pytest.mark.parametrize("path", parts())
def test_the_state_of_a_part_is_private(path):
    assert [line for line in stored_properties(path) if "private" not in line] == []


@pytest.mark.parametrize("path", parts())
def test_a_part_has_few_stored_properties(path):
    assert len(stored_properties(path)) <= MOST_PROPERTIES


@pytest.mark.parametrize("name", OF_A_TASK)
def test_a_type_for_one_running_task_has_few_stored_properties(name):
    assert len(stored_properties(next(ENGINE.rglob(f"{name}.swift")))) <= MOST_PROPERTIES


def test_the_engine_loop_has_few_stored_properties_and_at_most_two_extensions():
    assert len(stored_properties(ENGINE / "EngineLoop.swift")) <= 12
    extensions = [path for path in ENGINE.rglob("*.swift") if "extension EngineLoop" in path.read_text()]
    assert len(extensions) <= 2


def classes():
    for path in sorted(ENGINE.rglob("*.swift")):
        if re.search(r"^(?:public )?final class ", path.read_text(), re.M):
            yield pytest.param(path, id=path.stem)


@pytest.mark.parametrize("path", list(classes()))
def test_a_class_of_the_engine_has_few_stored_properties_and_at_most_two_extensions(path):
    name = re.search(r"^(?:public )?final class (\w+)", path.read_text(), re.M).group(1)
    assert len(stored_properties(path)) <= MOST_PROPERTIES
    extensions = [other for other in ENGINE.rglob("*.swift")
                  if re.search(rf"^extension {name}\b", other.read_text(), re.M)]
    assert len(extensions) <= 2
