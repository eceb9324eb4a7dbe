"""The command line of a soak run."""

import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def run_command(parser, rounds, what, soak):
    """Runs `soak` in a new folder, which is kept if a promise was broken. Prints the first broken promises, and one
    line about the run. Returns the exit status.

    `what` happens `rounds` times, such as "kills". `soak` is called with the options, the folder, the seed, and a
    function for the progress. It returns the result, and a description of it.
    """
    parser.add_argument("--rounds", type=int, default=rounds, help=f"how many {what}")
    parser.add_argument("--seed", type=int, default=None, help="chosen at random unless given")
    parser.add_argument("--keep", action="store_true", help="keep all files and the journals")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir=ROOT / "build"))
    start = time.monotonic()

    def progress(done):
        if sys.stderr.isatty():
            print(f"\r{done} of {options.rounds} {what}", end="", file=sys.stderr, flush=True)

    result, description = soak(options, folder, seed, progress)
    for violation in result.violations[:20]:
        print(violation)
    kept = options.keep or result.violations
    if not kept:
        shutil.rmtree(folder)
    print(f"{description}, {len(result.violations)} promises broken, seed {seed}, {time.monotonic() - start:.0f} s"
          + (f"; everything is in {folder}" if kept else ""))
    return 1 if result.violations else 0
