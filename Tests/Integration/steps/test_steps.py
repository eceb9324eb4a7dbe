"""A process is killed instead of its first, second, third… durable step, until a process survives. A durable step is a
call that writes, syncs, renames, links, cuts or removes a file, in the store or at a destination (steps.c).

Each process does each kind of work: downloads, replacing downloads, resumes, uploads, claims, acknowledgements.
"""

import itertools

import pytest


@pytest.fixture
def every(pytestconfig):
    return pytestconfig.getoption("--every")


@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("is_one_file_system", [True, False], ids=["one file system", "two file systems"])
def test_a_host_that_is_killed_at_any_step_loses_nothing(lives, every, is_one_file_system):
    for step in itertools.count(1, every):
        life = lives(is_one_file_system=is_one_file_system)
        if not life.run(step):
            break
        life.run()
        assert life.violations() == [], f"after a kill at step {step}"
    assert step > 100
    print(f"{step} durable steps")


@pytest.mark.timeout(7_200)
def test_a_daemon_that_is_killed_at_any_step_loses_nothing(lives, every):
    for step in itertools.count(1, every):
        life = lives("DAEMON")
        life.run(step_of_daemon=step)
        assert life.violations() == [], f"after a kill at step {step}"
        if not life.has_killed_daemon:
            break
    assert step > 100
    print(f"{step} durable steps")


@pytest.mark.timeout(7_200)
def test_a_host_that_is_killed_in_each_recovery_loses_nothing(lives, every):
    life, kills = lives(), 0
    while life.run(1 + kills * every):
        kills += 1
    # The first kill is not in a recovery.
    assert kills >= 2
    assert life.violations() == []
    print(f"{kills} kills")
