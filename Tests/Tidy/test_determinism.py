"""Nothing but `Runtime` decides what the engine does: clocks, random numbers and the boot id come from it. So a fake
repeat a run exactly."""

import re

import pytest
from tree import PROJECT

#: What reads a clock, a random number or the boot id of this machine.
READS = re.compile(r"\bClock\.|\.random\b(?!\()|\.random\(in:|\bcurrentBootID\b|\bSystemRandomNumberGenerator\b"
                   r"|\.shuffled\(\)|\.randomElement\(\)|\bclock_gettime\b")
#: The file that makes a `Runtime` of the machine's clocks.
RUNTIME = PROJECT / "Sources/BackhaulEngine/Loop/LoopRuntime.swift"


@pytest.mark.parametrize("module", ["BackhaulEngine", "BackhaulModel"])
def test_time_and_chance_come_from_the_runtime(module):
    found = []
    for file in sorted((PROJECT / "Sources" / module).rglob("*.swift")):
        if file == RUNTIME:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            code = line.partition("//")[0].replace("runtime.random", "")
            if READS.search(code):
                found.append(f"{file.relative_to(PROJECT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
