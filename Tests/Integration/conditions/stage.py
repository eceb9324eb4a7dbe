"""Runs slow plays at the same time. Most of their time is spent waiting, because a condition must last before it
counts."""

import os
from concurrent.futures import ThreadPoolExecutor

#: All plays by name. Each is a function that returns what its tests check.
PLAYS = {}
#: The names of the plays that need a library whose calendar can be set.
WITH_CALENDAR = {"overnight", "month"}
#: The path of that library, under the key "library".
CALENDAR = {}


def play(function):
    """Registers the function by its name for tests: ``@pytest.mark.parametrize("play", ["laptop"], indirect=True)``."""
    PLAYS[function.__name__] = function
    return function


#: These plays take longest, so they are started first.
LONGEST = ["pressure", "waiting_for_everything", "hot", "heat", "slow", "loose_plug"]


class Stage:
    """Runs all plays, as many at once as the machine can bear, and waits for them.

    The environment must not change while programs are started, and pytest writes the name of each test into it.
    """

    def __init__(self, names):
        names = sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
        with ThreadPoolExecutor(max_workers=6 + 2 * (os.cpu_count() or 1)) as pool:
            self._played = {name: pool.submit(PLAYS[name]) for name in names}

    def result(self, name):
        return self._played[name].result()
