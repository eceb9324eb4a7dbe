"""The parts of the engine: each owns its state, and none knows the whole (docs/internals/engine.md)."""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[2] / "Sources" / "BackhaulEngine"
# What applies effects, and what every part is given.
WHOLE = {"Core", "Loop"}
MOST_PROPERTIES = 16
# What belongs to one running task, and so has no state of the engine: why its properties are open.
OF_A_TASK = {
    "RunningAttempt": "the state that a download and an upload have in common; their runners use it",
    "TransferContext": "constants only: the parts that runners use",
}
STORED = re.compile(r"^    (?:private |private\(set\) |unowned |weak |lazy )*(?:var|let) \w+")


def is_part(path):
    is_used_by_all = path.relative_to(ENGINE).parts[0] in WHOLE or path.stem in OF_A_TASK
    return not is_used_by_all and "any Runtime" in path.read_text()


def parts():
    return [pytest.param(path, id=path.stem) for path in sorted(ENGINE.rglob("*.swift")) if is_part(path)]


def code(path):
    return [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]


def stored_properties(path):
    """Of the file's class; a computed one ends with its body."""
    lines = code(path)
    begin = next(number for number, line in enumerate(lines) if line.startswith("final class "))
    end = lines.index("}", begin)
    return [line for line in lines[begin:end] if STORED.match(line) and not re.search(r"\{( .* \})?$", line)]


def test_there_are_parts():
    assert len(parts()) >= 15


@pytest.mark.parametrize("path", [*parts(), *ENGINE.rglob("Running*.swift"), *ENGINE.rglob("*Runner*.swift")])
def test_a_part_does_not_name_the_engine_as_a_whole(path):
    assert not [line for line in code(path) if "EngineCore" in line]


@pytest.mark.parametrize("path", parts())
def test_the_state_of_a_part_is_its_own(path):
    assert [line for line in stored_properties(path) if "private" not in line] == []


@pytest.mark.parametrize("path", parts())
def test_a_part_has_few_properties(path):
    assert len(stored_properties(path)) <= MOST_PROPERTIES


@pytest.mark.parametrize("name", OF_A_TASK)
def test_what_belongs_to_a_task_has_few_properties_and_no_variable_of_the_engine(name):
    path = next(ENGINE.rglob(f"{name}.swift"))
    assert len(stored_properties(path)) <= MOST_PROPERTIES
    assert name != "TransferContext" or not [line for line in stored_properties(path) if " var " in line]
