"""Runs simulations at the same time. A simulation is a function that changes conditions, such as power, while transfers
run. Simulations spend most of their time waiting, because the engine acts on a changed condition only after some
time."""

import os
from concurrent.futures import ThreadPoolExecutor

#: All simulations by name. Each simulation returns the values that its tests check.
SIMULATIONS = {}
#: The names of the simulations that need a debug build of the library. In such a build, a test can set the calendar:
#: the date and time that the engine sees.
WITH_CALENDAR = {"overnight", "month"}
#: The path of a debug build of the library, under the key "library".
CALENDAR = {}


def simulation(function):
    """Registers the function under its name, so that tests can use it.

    A test states the name: ``@pytest.mark.parametrize("simulation", ["laptop"], indirect=True)``.
    """
    SIMULATIONS[function.__name__] = function
    return function


#: These simulations take longest, so the pool starts them first.
LONGEST = ["pressure", "waiting_for_everything", "hot", "heat", "slow", "loose_plug"]


class SimulationPool:
    """Runs all simulations, many of them at the same time, and waits until all of them have ended.

    The environment variables must not change while the simulations start programs. However, pytest writes the name of
    each test into an environment variable. So the pool waits for all simulations before the first test.
    """

    def __init__(self, names):
        names = sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
        with ThreadPoolExecutor(max_workers=6 + 2 * (os.cpu_count() or 1)) as pool:
            self._results = {name: pool.submit(SIMULATIONS[name]) for name in names}

    def result(self, name):
        return self._results[name].result()
