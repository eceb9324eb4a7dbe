"""A session bus of its own, with fake services of a desktop that record each call."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from command_line import LIMIT, until

PROGRAM = Path(__file__).resolve().parents[1] / "Support" / "testbed" / "programs" / "fake_desktop.py"
# The Python for which Debian installs python3-dbus and python3-gi.
SYSTEM_PYTHON = "/usr/bin/python3"

NOTIFICATIONS = "org.freedesktop.Notifications"
FILES = "org.freedesktop.FileManager1"
JOBS = "org.kde.JobViewServer"
#: A server of jobs without the interface org.kde.JobViewServerV2.
OLD_JOBS = JOBS + "/2"
MARKUP = ("actions", "body", "body-markup")

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class DesktopSession:
    def __init__(self, folder):
        self.folder = folder
        self.folder.mkdir()
        self.services = folder / "services"
        self.services.mkdir()
        self.record = folder / "calls"
        self.record.touch()
        self.address = f"unix:path={folder / 'bus'}"
        self.environment = {"DBUS_SESSION_BUS_ADDRESS": self.address}
        configuration = folder / "bus.conf"
        configuration.write_text(CONFIGURATION.format(socket=folder / "bus", services=self.services))
        self.running = [subprocess.Popen(["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"],
                                         stdin=subprocess.DEVNULL)]
        until(lambda: (folder / "bus").exists() and self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus",
                                                              "GetId", check=False), "the start of the bus")

    def call(self, name, path, interface, member, *arguments, check=True):
        """Calls a method and returns its result. The arguments are a signature and its values, as for busctl."""
        ended = subprocess.run(
            ["busctl", f"--address={self.address}", "--json=short", "call", name, path, interface, member, *arguments],
            capture_output=True, text=True, timeout=LIMIT, check=False)
        assert not check or ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)["data"] if ended.stdout.strip() else None

    def owner(self, name):
        """Returns the unique name of the connection that has this name, or None."""
        data = self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner", "s", name, check=False)
        return data and data[0]

    def words(self, names, capabilities):
        return [SYSTEM_PYTHON, str(PROGRAM), str(self.record), json.dumps(names), json.dumps(capabilities)]

    def serve(self, *names, capabilities=MARKUP):
        """Starts a process with these services."""
        process = subprocess.Popen(self.words(names, capabilities), stdin=subprocess.DEVNULL,
                                   env={"PATH": os.environ["PATH"], **self.environment})
        self.running.append(process)
        for name in names:
            until(lambda name=name: self.owner(name.removesuffix("/2")), f"the start of {name}")
        return process

    def serve_on_demand(self, name, capabilities=MARKUP):
        """Makes the bus start a process with this service when a program needs it."""
        script = self.folder / name
        words = " ".join(f"'{word}'" for word in self.words([name], capabilities))
        script.write_text(f"#!/bin/sh\nDBUS_SESSION_BUS_ADDRESS='{self.address}' exec {words}\n")
        script.chmod(0o755)
        (self.services / f"{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={script}\n")
        self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")

    def end_service(self, process):
        process.kill()
        process.wait()

    def calls(self, *members):
        """Returns the recorded calls and signals with these names, or all."""
        lines = map(json.loads, self.record.read_text().splitlines())
        return [line for line in lines if not members or line["member"] in members]

    def until_calls(self, *members, count=1):
        """Waits for the calls, and returns the arguments of the last one."""
        return until(lambda: len(found := self.calls(*members)) >= count and found,
                     f"{count} calls of {members}")[-1]["arguments"]

    def emit(self, name, path, interface, member, *arguments, **others):
        """Makes the service send a signal."""
        wanted = {"path": path, "interface": interface, "member": member, "arguments": arguments, **others}
        self.call(name, "/", "test.Desktop", "Emit", "s", json.dumps(wanted))

    def end(self):
        for process in reversed(self.running):
            self.end_service(process)


def missing():
    """Returns the reason why the machine cannot run these services, or None."""
    for program in ("dbus-daemon", "busctl", SYSTEM_PYTHON):
        if not shutil.which(program):
            return f"needs {program}"
    found = subprocess.run([SYSTEM_PYTHON, "-c", "import dbus, gi"], capture_output=True, check=False)
    return "needs python3-dbus and python3-gi" if found.returncode else None


def is_watching(process):
    """Whether the process has a watch of inotify(7)."""
    try:
        return any("inotify wd:" in file.read_text() for file in Path(f"/proc/{process}/fdinfo").iterdir())
    except OSError:
        return False
