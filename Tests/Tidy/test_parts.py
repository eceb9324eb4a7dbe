"""The engine, which runs the uploads and downloads, consists of parts. A part is an object that owns the state of one
subject, and does not refer to the whole engine (docs/internals/engine.md)."""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[2] / "Sources" / "BackhaulEngine"
MOST_PROPERTIES = 16
STORED = re.compile(r"^    (?:private |private\(set\) |unowned |weak |lazy )*(?:var|let) \w+")


def is_part(path):
    """A part uses the loop only through `Runtime`."""
    text = path.read_text()
    return re.search(r"\bany Runtime\b", text) and "final class " in text


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


def groups():
    """Maps each part in EngineParts.swift to the file of its class."""
    names = set(re.findall(r"^    let \w+: (\w+)", (ENGINE / "EngineParts.swift").read_text(), re.M))
    files = {path.stem: path for path in ENGINE.rglob("*.swift")}
    return {name: files[name] for name in names | {"ConditionsController"}
            if name in files and f"final class {name}" in files[name].read_text()}


def changing_methods(path):
    """Returns the names of the methods that change the part: they return nothing, or effects."""
    found = set()
    for name, declaration in re.findall(r"^    func (\w+)(.*?) \{", path.read_text(), re.M | re.S):
        depth = 0
        for position, character in enumerate(declaration):
            depth += {"(": 1, ")": -1}.get(character, 0)
            if character == ")" and depth == 0:
                break
        result = declaration[position + 1:].partition("->")[2]
        if not result.strip() or "EngineEffect" in result:
            found.add(name)
    return found


PROPERTY = re.compile(r"^    (?:private |private\(set\) )*(?:let|var) (\w+): (?:any )?(\w+)", re.M)


def members():
    """Maps each struct in EngineParts.swift that has parts to the names and classes of its parts."""
    text = (ENGINE / "EngineParts.swift").read_text()
    return {name: PROPERTY.findall(body) for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", text, re.M | re.S)}


def changing_calls(path, exempt=()):
    """Returns the calls in a file that change a part. Each has a property of the file, or a member of such a property,
    and a method of the part's class. Members of the exempt structs are left out."""
    text = "\n".join(code(path))
    objects = PROPERTY.findall(text)
    objects += [(f"{name}.{member}", part) for name, kind in objects if kind not in exempt
                for member, part in members().get(kind, [])]
    found = set()
    for name, kind in objects:
        if kind in groups() and kind != path.stem:
            called = set(re.findall(rf"(?<!\w)(?<!\w\.){re.escape(name)}\.(\w+)\(", text))
            found |= {f"{kind}.{method}" for method in called & changing_methods(groups()[kind])}
    return found


def has_state(path):
    """An object without variables has no state that a call-back could find half changed, so it may change parts."""
    return any(re.search(r"\bvar\b", line) for line in stored_properties(path))


@pytest.mark.parametrize("path", [*(part for part in parts() if has_state(part.values[0])),
                                  *ENGINE.rglob("*Runner*.swift"), *ENGINE.rglob("Running*.swift")])
def test_a_part_with_state_calls_no_method_that_changes_another_part(path):
    # The controller of conditions owns the order of a judgement (docs/internals/engine.md).
    assert not changing_calls(path, exempt={"ConditionParts"} if path.stem == "ConditionsController" else ())


def test_these_tests_see_calls_of_parts_in_a_struct():
    assert "ConditionsMonitor.setNeeds" in changing_calls(ENGINE / "Conditions/ConditionsController.swift")


def test_runners_change_other_parts_only_for_each_chunk_of_bytes():
    for path in [*ENGINE.rglob("*Runner*.swift"), *ENGINE.rglob("Running*.swift"), ENGINE / "Transfers/BodyFeed.swift"]:
        for name, method in re.findall(r"services\.(\w+)\.(\w+)\(", "\n".join(code(path))):
            kind = {"credentials": "CredentialController", "endings": "EndingWriter"}.get(name)
            assert kind is None or method not in changing_methods(groups()[kind])


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
