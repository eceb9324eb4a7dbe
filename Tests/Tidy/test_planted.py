"""Each fault that is planted in the library to test the simulator must still fit the sources."""

import re
import subprocess

import pytest
from tree import PROJECT

PATCHES = sorted((PROJECT / "Tests/Simulation/planted").glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_planted_fault_applies_to_the_sources(patch):
    checked = subprocess.run(["git", "apply", "--check", patch], cwd=PROJECT, capture_output=True, text=True)
    assert checked.returncode == 0, f"{checked.stderr}\nchange {patch} so that it plants the same fault again"


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_planted_fault_has_its_sentence_and_the_number_of_its_file(patch):
    text = patch.read_text()
    assert re.match(r"(Promise \d+|The contract): \w.*\.\n\n--- ", text)
    added = "".join(line for line in text.splitlines() if line.startswith("+"))
    assert {int(number) for number in re.findall(r"isPlanted\((\d+)\)", added)} == {int(patch.name[:2])}


def test_each_promise_has_two_planted_faults():
    promises = [re.match(r"Promise (\d+)", patch.read_text()) for patch in PATCHES]
    numbers = [int(promise[1]) for promise in promises if promise]
    assert numbers == [number for number in range(1, 11) for _ in range(2)]
