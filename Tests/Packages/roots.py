"""Bare systems of Debian, in which the tests install packages. build/roots has the systems, which are made once with
mmdebstrap. Each test changes a copy in an overlay."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ROOTS = PROJECT / "build" / "roots"
PACKAGES = PROJECT / "build" / "packages"
#: The user who runs programs in the tests. Programs for users do not run as root.
USER = 1000


def output(*command, code=0, **options):
    """Runs a command, and returns what it prints. It must end with the given exit code."""
    ended = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert ended.returncode == code, f"{command} ended with {ended.returncode}:\n{ended.stdout}"
    return ended.stdout


def bare(release):
    """Returns the folder of a system with nothing but Debian's essential packages and apt."""
    folder = ROOTS / release
    if not folder.exists():
        ROOTS.mkdir(parents=True, exist_ok=True)
        made = ROOTS / f"{release}.new"
        shutil.rmtree(made, ignore_errors=True)
        # The system keeps this option of apt.
        output("mmdebstrap", "--variant=apt", '--aptopt=Acquire::Retries "5"', release, made,
               "http://deb.debian.org/debian")
        made.rename(folder)
    return folder


class System:
    """A system whose changes go into a folder. Its programs run in a chroot, with the network of this machine."""

    def __init__(self, place, *lower):
        self.place, self.lower = place, lower
        self.changes, self.root = place / "changes", place / "root"

    def __enter__(self):
        for folder in (self.changes, self.root, self.place / "work"):
            folder.mkdir(parents=True)
        layers = ":".join(str(folder) for folder in self.lower)
        output("mount", "-t", "overlay", "overlay", "-o",
               f"lowerdir={layers},upperdir={self.changes},workdir={self.place / 'work'}", self.root)
        output("mount", "-t", "proc", "proc", self.root / "proc")
        output("mount", "--rbind", "/dev", self.root / "dev")
        output("mount", "--make-rslave", self.root / "dev")
        output("mount", "-t", "tmpfs", "tmpfs", self.root / "run")
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        return self

    def __exit__(self, *_):
        self.end_processes()
        for folder in ("run", "dev", "proc", ""):
            subprocess.run(["umount", "--lazy", "--recursive", self.root / folder], check=False, capture_output=True)

    def end_processes(self):
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, 9)

    def processes(self, name=""):
        """Returns the ids of the processes whose root is this system, and whose program has the name."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                program = os.readlink(folder / "exe")
                if os.readlink(folder / "root") == str(self.root) and name in program:
                    found.append(int(folder.name))
        return found

    def command(self, *words, user=0):
        """Returns the words that run a command in this system."""
        home = "/root" if user == 0 else "/home/user"
        return ["chroot", f"--userspec={user}:{user}", self.root, "env", "-i", f"HOME={home}", "LC_ALL=C.UTF-8",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", *words]

    def run(self, *words, user=0, code=0):
        return output(*self.command(*words, user=user), code=code)

    def sh(self, script, user=USER, code=0):
        return self.run("sh", "-euc", f"cd; {script}", user=user, code=code)

    def add_user(self):
        # Debian 13 has no useradd in its smallest system.
        for file, line in (("passwd", f"user:x:{USER}:{USER}::/home/user:/bin/sh"), ("group", f"user:x:{USER}:")):
            with open(self.root / "etc" / file, "a", encoding="utf-8") as table:
                table.write(line + "\n")
        home = self.root / "home" / "user"
        home.mkdir()
        os.chown(home, USER, USER)

    def install(self, *names):
        """Installs packages of Debian, or files below the root. The lists of apt must be current."""
        self.sh(f"DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends {' '.join(names)}", user=0)

    def add(self, *files, folder="packages"):
        """Copies files into a folder of the system, and returns their paths there."""
        (self.root / folder).mkdir(exist_ok=True)
        for file in files:
            shutil.copy(file, self.root / folder)
        return [f"/{folder}/{file.name}" for file in files]

    def files(self):
        """Returns the paths of the files, except those that apt, dpkg and the fixtures write themselves."""
        own = ("var/cache", "var/lib/apt", "var/lib/dpkg", "var/log", "etc/ld.so.cache", "tmp", "root/", "home/",
               "packages", "etc/resolv.conf")
        found = output("find", self.root, "-xdev", "-mindepth", "1", "-printf", "%P\n").splitlines()
        return {path for path in found if not path.startswith(own)}
