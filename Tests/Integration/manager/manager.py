"""A systemd user manager for tests: `systemd --user` in its own namespaces for mounts, processes and control groups,
and with its own /run. Process 1 of the machine need not be systemd."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("BACKHAUL_COMMAND", str(PROJECT / "build" / "bin" / "backhaul"))
SYSTEMD = "/lib/systemd/systemd"
LIMIT = 60

# Without the package dbus-user-session the manager has no units for its bus. These are short forms of the package's
# units.
BUS_UNITS = {
    "dbus.socket": "[Socket]\nListenStream=%t/bus\nExecStartPost=-/bin/systemctl --user set-environment"
                   " DBUS_SESSION_BUS_ADDRESS=unix:path=%t/bus\n",
    "dbus.service": "[Unit]\nRequires=dbus.socket\n[Service]\nType=notify\nExecStart=/usr/bin/dbus-daemon --session"
                    " --address=systemd: --nofork --nopidfile --systemd-activation\nSlice=session.slice\n",
}

INSIDE = f"""
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p "$XDG_RUNTIME_DIR" /run/systemd/system
chmod 700 "$XDG_RUNTIME_DIR"
{SYSTEMD} --user &
echo $! >"$HOME/manager.pid"
wait
"""


class Unavailable(Exception):
    """The reason why the machine cannot run a user manager for tests."""


class UserManager:
    def __init__(self):
        if os.geteuid() != 0:
            raise Unavailable("needs root, for namespaces")
        for program in (SYSTEMD, "/usr/bin/dbus-daemon", "unshare", "nsenter"):
            if not shutil.which(program):
                raise Unavailable(f"needs {program}")
        self.home = Path(tempfile.mkdtemp(prefix="backhaul-manager-"))
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": f"/run/user/{os.geteuid()}",
        }
        units = self.home / ".config" / "systemd" / "user"
        (units / "sockets.target.wants").mkdir(parents=True)
        for name, text in BUS_UNITS.items():
            (units / name).write_text(text)
        (units / "sockets.target.wants" / "dbus.socket").symlink_to(units / "dbus.socket")
        self.groups = self.process = None
        try:
            self.start()
        except BaseException:
            self.end()
            raise

    def start(self):
        # The manager gets a separate control group, so its groups are separate from the groups of the machine.
        self.groups = self.unified() / f"backhaul-test-{os.getpid()}"
        try:
            self.groups.mkdir()
        except OSError as reason:
            raise Unavailable(f"needs a control group: {reason}") from None
        self.log = open(self.home / "manager.log", "wb")
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--cgroup", "sh", "-c", INSIDE],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            preexec_fn=lambda: (self.groups / "cgroup.procs").write_text(str(os.getpid())))
        limit = time.monotonic() + LIMIT
        while not self.is_running():
            if self.process.poll() is not None or time.monotonic() > limit:
                lines = (self.home / "manager.log").read_text(errors="replace").strip().splitlines()
                raise Unavailable(f"the manager did not start: {lines[-1] if lines else 'it printed nothing'}")
            time.sleep(0.05)

    def unified(self):
        """Returns the mount point of control groups version 2. If they are not mounted, as in a plain chroot, this
        function mounts them."""
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields, _, kind = line.partition(" - ")
            if kind.startswith("cgroup2 "):
                return Path(fields.split()[4])
        mount = self.home / "groups"
        mount.mkdir()
        if subprocess.run(["mount", "-t", "cgroup2", "cgroup2", mount], capture_output=True, check=False).returncode:
            raise Unavailable("needs control groups of version 2")
        return mount

    def is_running(self):
        if not (self.home / "manager.pid").exists() or not self.first_process():
            return False
        return self("systemctl", "--user", "is-system-running", check=False).stdout.strip() in ("running", "degraded")

    def first_process(self):
        """Returns the process id that process 1 of the namespace has outside of the namespace."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def words(self, *words):
        """Returns the command line that runs `words` in the namespaces."""
        return ["nsenter", "--target", str(self.first_process()), "--mount", "--pid", "--cgroup", *map(str, words)]

    def __call__(self, *words, check=True, timeout=LIMIT, **variables):
        """Runs a command in the namespaces, but in no control group of the manager's units. The command runs like a
        command that a user types in a terminal."""
        ended = subprocess.run(
            self.words(*words), env={**self.environment, **variables}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=timeout, check=False)
        assert not check or ended.returncode == 0, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended

    def property(self, unit, name):
        return self("systemctl", "--user", "show", "--value", "--property", name, unit).stdout.strip()

    def reload(self):
        """Does what happens at boot: reads the unit files again and starts the default target."""
        self("systemctl", "--user", "daemon-reload")
        self("systemctl", "--user", "start", "default.target")

    def end(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.log.close()
        if self.groups and self.groups.exists():
            # Ends the remaining processes of the namespace, and waits for their end.
            kill = self.groups / "cgroup.kill"
            if kill.exists():
                kill.write_text("1")
            limit = time.monotonic() + LIMIT
            while "populated 1" in (self.groups / "cgroup.events").read_text() and time.monotonic() < limit:
                time.sleep(0.01)
            for folder, _, _ in os.walk(self.groups, topdown=False):
                os.rmdir(folder)
        if (self.home / "groups").is_mount():
            subprocess.run(["umount", self.home / "groups"], check=True)
        shutil.rmtree(self.home, ignore_errors=True)


def until(condition, what):
    """Waits until the condition is true, and returns its value. `what` names the condition in the error."""
    limit = time.monotonic() + LIMIT
    while not (result := condition()):
        assert time.monotonic() < limit, f"{what} did not happen"
        time.sleep(0.02)
    return result
