"""The fuzzers: the list of the targets, the table of the document, and the files with inputs."""

import json
import re

import pytest
from tree import PROJECT

FOLDER = PROJECT / "Tests" / "Fuzz"
TARGETS = re.findall(r'FuzzTarget\(name: "([^"]+)"', (FOLDER / "FuzzTarget.swift").read_text())


def test_the_document_describes_each_target_in_the_order_of_the_list():
    text = (PROJECT / "docs" / "internals" / "fuzzing.md").read_text()
    assert re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE) == TARGETS


def test_each_target_has_a_file_with_inputs_and_each_file_has_a_target():
    assert sorted(file.stem for file in (FOLDER / "corpus").iterdir()) == sorted(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_the_inputs_of_a_target_are_few_and_small(target):
    inputs = json.loads((FOLDER / "corpus" / f"{target}.json").read_text())
    assert len(inputs) == len(set(inputs)) <= 50
    assert sum(len(text.encode("latin-1")) for text in inputs) <= 50_000
