"""Cuts the power of a machine whose disk loses what was not flushed, and checks all promises afterwards.

Usage: scripts/in-venv python Tests/Soak/power/cuts.py ext4|xfs|btrfs [--cuts N] [--points N] [--seed N]
                                                       [--ignore-flushes]
`--cuts`: the power fails at random moments, again and again, while hosts work, also while they recover.
`--points`: runs are recorded, and the power fails at so many moments of the records.
Prints the broken promises, and one line about the run. If a promise was broken, the exit status is 1.
"""

import argparse
import os
import random
import secrets
import sys
import time
from pathlib import Path

import disk
from machine import Machine, memory
from servers.misbehaving import MisbehavingServer
from servers.receiving import ReceivingServer

#: After this number of cuts, a new disk is used.
CUTS_OF_A_DISK = 8
#: How many moments of one record are tried.
POINTS_OF_A_RECORD = 250


def moment(record, chance):
    """Returns a position in the record. Each second one is near a flush or a fact, because most entries are writes."""
    position = chance.randrange(len(record))
    if chance.random() < 0.5:
        return position
    near = chance.choice([number for number, entry in enumerate(record) if not isinstance(entry, disk.Write)])
    return max(0, min(len(record), near + chance.randrange(-3, 4)))


def random_cuts(machine, count, seed, ignores_flushes):
    """Each host recovers from the cut before and does more work. Its machine loses its power at a random moment."""
    chance, done = random.Random(seed), 0
    while done < count:
        machine.new_disk()
        cut = "no cut before"
        for number in range(min(CUTS_OF_A_DISK, count - done) + 1):
            first = len(machine.violations)
            machine.add_batch(seed + done + number)
            hosting = chance.choice(["EMBEDDED", "DAEMON"])
            try:
                record = machine.run(hosting, seed, ignores_flushes)
            except disk.Unmountable as error:
                machine.violations.append(str(error))
                record = []
            machine.explain(first, f"seed {seed}, cut {done + number} ({cut})")
            if not record or len(machine.violations) > first:
                break
            position = moment(record, chance)
            cut = machine.cut_power(record, position, chance)
            machine.facts += disk.facts_before(record, position)
        done += number or 1
        report(f"{done} of {count} cuts")
    return done


def replayed_points(machine, count, seed, ignores_flushes):
    """Cuts the power at moments of recorded runs. Each record is replayed at moments that have the same distance."""
    done = 0
    while done < count:
        chance = random.Random(seed + done)
        machine.new_disk()
        base = machine.folder / "base"
        machine.add_batch(seed + done)
        record = machine.run(chance.choice(["EMBEDDED", "DAEMON"]), seed + done, ignores_flushes)
        machine.image.replace(base)
        first = next(i for i, entry in enumerate(record) if isinstance(entry, disk.Fact))
        points = min(POINTS_OF_A_RECORD, count - done)
        for number in range(points):
            position = first + 1 + (len(record) - first - 1) * number // points
            before = len(machine.violations)
            cut = machine.cut_power(record, position, chance, base)
            machine.facts = disk.facts_before(record, position)
            try:
                machine.replay(seed)
            except disk.Unmountable as error:
                machine.violations.append(str(error))
            machine.explain(before, f"seed {seed + done}, point {number} ({cut})")
        done += points
        report(f"{done} of {count} points")
    return done


def report(progress):
    print(progress, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=disk.KINDS, help="the file system")
    parser.add_argument("--cuts", type=int, default=0, help="how many power cuts at random moments")
    parser.add_argument("--points", type=int, default=0, help="how many moments of recorded runs")
    parser.add_argument("--seed", type=int, default=None, help="chosen at random unless given")
    parser.add_argument("--ignore-flushes", action="store_true", help="the disk is broken; violations are expected")
    options = parser.parse_args()
    if reason := disk.missing_tool(options.kind):
        sys.exit(reason)
    seed = secrets.randbits(30) if options.seed is None else options.seed
    start = time.monotonic()
    with memory() as folder, MisbehavingServer() as misbehaving, ReceivingServer() as sink:
        machine = Machine(options.kind, folder, misbehaving, sink)
        cuts = random_cuts(machine, options.cuts, seed, options.ignore_flushes)
        points = replayed_points(machine, options.points, seed, options.ignore_flushes)
    print(f"{options.kind}: {cuts} random power cuts, {points} replayed points, "
          f"{len(machine.violations)} promises broken, seed {seed}, {time.monotonic() - start:.0f} s")
    return 1 if machine.violations else 0


if __name__ == "__main__":
    if os.environ.pop("BACKHAUL_POWER", None) is None:
        os.environ["BACKHAUL_POWER"] = "1"
        # The server that forks the hosts imports this file.
        os.environ["PYTHONPATH"] = f"{Path(__file__).parent}:{os.environ['PYTHONPATH']}"
        os.execvp(disk.NAMESPACES[0], [*disk.NAMESPACES, sys.executable, *sys.argv])
    sys.exit(main())
