"""What takes its time is played side by side: conditions must have lasted before they count, and nobody works
meanwhile."""

import os
from concurrent.futures import ThreadPoolExecutor

#: By name. Each is a function that returns what its tests look at.
PLAYS = {}
#: Names of those that need a library whose calendar can be set.
WITH_CALENDAR = {"overnight", "month"}
#: That library, as "library".
CALENDAR = {}


def play(function):
    """Makes it one that tests have by its name: ``@pytest.mark.parametrize("play", ["laptop"], indirect=True)``."""
    PLAYS[function.__name__] = function
    return function


#: They begin first.
LONGEST = ["pressure", "waiting_for_everything", "hot", "heat", "slow", "loose_plug"]


class Stage:
    """Plays them all, as many at once as the machine can bear, and then is done: while programs are started the
    environment has to stand still, in which pytest notes each test."""

    def __init__(self, names):
        names = sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
        with ThreadPoolExecutor(max_workers=6 + 2 * (os.cpu_count() or 1)) as pool:
            self._played = {name: pool.submit(PLAYS[name]) for name in names}

    def result(self, name):
        return self._played[name].result()
