"""The folder below build/ in which a bench builds its programs, and keeps its stores and files."""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from . import measure

PROJECT = Path(__file__).resolve().parent.parent.parent
BUILD = PROJECT / "build"
FOLDER = BUILD / "bench"
DAEMON = BUILD / "libexec/backhaul/backhauld"


@contextmanager
def workplace():
    """Makes an empty folder, and removes it at the end. Exits if another bench of this tree is running."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "bench.lock", "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("Another bench of this tree is running.")
        shutil.rmtree(FOLDER, ignore_errors=True)
        spread_folder(FOLDER / "rounds")
        try:
            yield
        finally:
            shutil.rmtree(FOLDER, ignore_errors=True)


def spread_folder(folder):
    """Makes a folder whose subfolders will be far apart on the disk, and returns it."""
    folder.mkdir(parents=True)
    measure.spread_folders(folder)
    return folder


def require_space(needed):
    """Exits if fewer bytes are free below build/bench."""
    free = shutil.disk_usage(FOLDER).free
    if free < needed:
        sys.exit(f"The bench needs {needed >> 30} GiB below build/bench; {free >> 30} GiB are free.")


def environment():
    """Returns the environment of the measured programs."""
    return {**os.environ, "HOME": str(FOLDER), "LC_ALL": "C.UTF-8"}


def build_programs(*names):
    """Compiles the C programs of the bench with these names, or all of them."""
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    library = ["-I", PROJECT / "include", "-L", BUILD / "lib", "-lbackhaul", f"-Wl,-rpath,{BUILD / 'lib'}"]
    preloaded = ["-shared", "-fPIC", "-ldl"]
    programs = {"bench_host": library, "latency": library, "enqueue": library, "queue": library, "raw": ["-lcurl"],
                "floor": [PROJECT / "bench/replay.c", "-lcurl", "-lsqlite3"], "delay_proxy": [],
                "counting.so": preloaded, "recorder.so": [*preloaded, "-lsqlite3"]}
    for name in names or programs:
        source = PROJECT / "bench" / f"{name.removesuffix('.so')}.c"
        subprocess.run(["clang", *flags, "-o", FOLDER / name, source, *programs[name]], check=True)


def machine(load):
    """Describes the machine. `load` is the load average before the bench."""
    system = os.uname()
    kind = subprocess.run(["df", "--output=fstype", BUILD], capture_output=True, text=True, check=True)
    return (f"{os.cpu_count()} cores, {system.sysname} {system.release}, {kind.stdout.split()[-1]}, "
            f"load before: {load:.1f}")
