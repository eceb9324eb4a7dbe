"""Kills a host and its daemon again and again and looks whether any promise was broken.

Usage: python -m hosts.soak [--rounds 500] [--hosting daemon|embedded] [--seed N] [--keep]
Prints one line; ends with 1 when a promise was broken. A seed makes the same choices again, at other moments.
"""

import argparse
import os
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bindings" / "python" / "src"), str(ROOT / "Tests")]
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
os.environ.setdefault("BACKHAUL_LIBRARY", str(ROOT / "build" / "lib" / "libbackhaul.so.0"))

import daemons  # noqa: E402
from backhaul import Hosting  # noqa: E402
from hosts.world import World  # noqa: E402
from servers.certificates import make_certificates  # noqa: E402
from servers.content import mixed_sizes, write_files  # noqa: E402
from servers.misbehaving import MisbehavingServer  # noqa: E402
from servers.nginx import Nginx  # noqa: E402


def soak(folder, rounds, seed, hosting, progress=lambda kills: None):
    """Plays batches until there were so many kills. Returns the result."""
    served = write_files(folder / "served", mixed_sizes(40, seed, largest=2_000_000), seed)
    certificates = make_certificates(folder)
    with Nginx(folder / "nginx", served.folder, certificates) as nginx, MisbehavingServer() as misbehaving:
        world = World(folder, nginx, served, misbehaving, certificates, seed, hosting)
        number = 0
        while world.result.kills < rounds and not world.result.violations:
            number += 1
            batch = world.batch(number)
            world.play(batch, min(rounds - world.result.kills, world.random.randint(4, 12)))
            progress(world.result.kills)
            shutil.rmtree(world.downloads / str(number))
        daemons.end_daemons(folder)
        world.result.resumed = sum((asked.offset or 0) > 0 for asked in misbehaving.log())
    return world.result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500, help="how many kills")
    parser.add_argument("--hosting", choices=["daemon", "embedded"], default="daemon", help="who is the engine")
    parser.add_argument("--seed", type=int, default=None, help="chosen at random unless given")
    parser.add_argument("--keep", action="store_true", help="leave the store, the files and the journals")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir=ROOT / "build"))
    start = time.monotonic()

    def progress(kills):
        if sys.stderr.isatty():
            print(f"\r{kills} of {options.rounds} kills", end="", file=sys.stderr, flush=True)

    result = soak(folder, options.rounds, seed, Hosting[options.hosting.upper()], progress)
    for violation in result.violations[:20]:
        print(violation)
    kept = options.keep or result.violations
    if not kept:
        shutil.rmtree(folder)
    print(f"{result.kills} kills in {result.batches} batches of {result.files} files, {result.resumed} resumed, "
          f"{len(result.violations)} promises broken, seed {seed}, {time.monotonic() - start:.0f} s"
          + (f"; everything is in {folder}" if kept else ""))
    return 1 if result.violations else 0


if __name__ == "__main__":
    sys.exit(main())
