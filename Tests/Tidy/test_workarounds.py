"""Each work-around for a fault of libcurl has a case in Workaround.swift, a file in the same folder, and a row in
docs/internals/transport.md. All three name the same version of libcurl."""

import re

import pytest

from tree import PROJECT

FOLDER = PROJECT / "Sources/BackhaulTransport/Curl/Workarounds"
TABLE = (FOLDER / "Workaround.swift").read_text()


def cases():
    return {name for line in re.findall(r"^    case (\w.*)$", TABLE, re.MULTILINE) for name in line.split(", ")}


def version(number):
    if number == "nil":
        return "none"
    value = int(number, 16)
    return f"{value >> 16}.{value >> 8 & 255}.{value & 255}"


def fixed_in():
    """Returns the first version without the fault for each case."""
    lines = re.findall(r"^        case (\..+): (nil|0x\w+)$", TABLE, re.MULTILINE)
    return {name: version(number) for names, number in lines for name in re.findall(r"\.(\w+)", names)}


def file_of(case):
    return FOLDER / f"{case[0].upper()}{case[1:]}.swift"


def test_each_case_has_a_version():
    assert set(fixed_in()) == cases()


def test_each_case_has_a_file_and_each_file_a_case():
    files = {path.stem for path in FOLDER.glob("*.swift")} - {"Workaround"}
    assert files == {file_of(case).stem for case in cases()}


@pytest.mark.parametrize("case", sorted(cases()))
def test_the_head_of_a_file_names_the_version(case):
    text = file_of(case).read_text()
    assert re.findall(r"^/// Needed by: .* Fixed in: (none|[\d.]*\d)", text, re.MULTILINE) == [fixed_in()[case]]
    if fixed_in()[case] != "none":
        assert f"Workaround.{case}.isActive" in "".join(
            path.read_text() for path in FOLDER.parent.parent.rglob("*.swift"))


def test_the_page_about_the_transport_lists_the_cases():
    page = (PROJECT / "docs/internals/transport.md").read_text()
    assert dict(re.findall(r"^\| `(\w+)` \| ([\w.]+) \|", page, re.MULTILINE)) == {
        file_of(case).stem: fixed_in()[case] for case in cases()}
