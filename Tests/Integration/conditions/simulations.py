"""Runs simulations at the same time. A simulation is a function that runs one scenario. A simulation mostly waits,
because the engine acts on a condition only after some time."""

import os
from concurrent.futures import ThreadPoolExecutor

#: All simulations by name. Each simulation is a function. It returns the values that its tests check.
SIMULATIONS = {}
#: The names of the simulations that need a library whose calendar can be set.
WITH_CALENDAR = {"overnight", "month"}
#: The path of a library whose calendar can be set, under the key "library".
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

    The environment must not change while the simulations start programs. However, pytest writes the name of each test
    into the environment. So the pool waits for all simulations before the first test.
    """

    def __init__(self, names):
        names = sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
        with ThreadPoolExecutor(max_workers=6 + 2 * (os.cpu_count() or 1)) as pool:
            self._results = {name: pool.submit(SIMULATIONS[name]) for name in names}

    def result(self, name):
        return self._results[name].result()
