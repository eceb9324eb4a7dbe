"""Runs simulations at the same time. A simulation is a function that runs one scenario. It mostly waits,
because the engine acts on a condition only after some time."""

import os
from concurrent.futures import ThreadPoolExecutor

#: All simulations by name. Each is a function that returns what its tests check.
SIMULATIONS = {}
#: The names of the simulations that need a library whose calendar can be set.
WITH_CALENDAR = {"overnight", "month"}
#: The path of a library whose calendar can be set, under the key "library".
CALENDAR = {}


def simulation(function):
    """Registers the function by its name for tests.

    A test names it: ``@pytest.mark.parametrize("simulation", ["laptop"], indirect=True)``.
    """
    SIMULATIONS[function.__name__] = function
    return function


#: These simulations take longest, so they are started first.
LONGEST = ["pressure", "waiting_for_everything", "hot", "heat", "slow", "loose_plug"]


class SimulationPool:
    """Runs all simulations, as many at once as the machine can bear, and waits for them.

    It waits for all simulations before the first test, because pytest writes the name of each test into the
    environment, and the environment must not change while programs are started.
    """

    def __init__(self, names):
        names = sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
        with ThreadPoolExecutor(max_workers=6 + 2 * (os.cpu_count() or 1)) as pool:
            self._results = {name: pool.submit(SIMULATIONS[name]) for name in names}

    def result(self, name):
        return self._results[name].result()
