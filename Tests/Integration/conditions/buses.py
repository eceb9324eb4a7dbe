"""A private system bus with the NetworkManager and logind of python-dbusmock.

    with Bus() as bus:
        network = bus.network_manager()
        network.connect("Home", "802-11-wireless")
        network.set_metered(YES)
        run(environment={**os.environ, **bus.environment})
        logind = bus.logind()
        logind.prepare_for_sleep(True)
        assert logind.inhibitors() == [Inhibitor(what="sleep", who="Backhaul", …)]

Each of these calls returns after its change has reached the bus. This module needs dbus-daemon, busctl and
python3-dbusmock. dbusmock runs in the Python of the system, and the tests run in the Python of the test environment.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

#: The longest wait for a process or a call, in seconds.
LIMIT = 120
# The Python for which Debian installs python3-dbusmock.
SYSTEM_PYTHON = "/usr/bin/python3"

# NMMetered, https://networkmanager.dev/docs/api/latest/nm-dbus-types.html
UNKNOWN, YES, NO, GUESS_YES, GUESS_NO = range(5)
# NMConnectivityState
NO_CONNECTIVITY, PORTAL, LIMITED, FULL = range(1, 5)

#: The name, object and interface of the bus itself.
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
NETWORK_MANAGER = "org.freedesktop.NetworkManager"
NETWORK_MANAGER_PATH = "/org/freedesktop/NetworkManager"
ACTIVE = "org.freedesktop.NetworkManager.Connection.Active"
LOGIND = "org.freedesktop.login1"
LOGIND_PATH = "/org/freedesktop/login1"
LOGIND_MANAGER = "org.freedesktop.login1.Manager"
MOCK = "org.freedesktop.DBus.Mock"

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow eavesdrop="true"/>
  </policy>
</busconfig>
"""


#: A Python program that sends forged signals to each connection of the bus.
FALSE_SIGNALS = """
import dbus, dbus.lowlevel
bus = dbus.SystemBus()
signals = [
    ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
     ("org.freedesktop.NetworkManager", ":1.0", "")),
    ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
     ("org.freedesktop.login1", ":1.0", "")),
    ("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", (True,)),
    ("/org/freedesktop/NetworkManager", "org.freedesktop.DBus.Properties", "PropertiesChanged", "s", ("nonsense",)),
]
for name in bus.list_names():
    if name.startswith(":") and name != bus.get_unique_name():
        for path, interface, member, signature, arguments in signals:
            message = dbus.lowlevel.SignalMessage(path, interface, member)
            message.set_destination(name)
            message.append(*arguments, signature=signature)
            bus.send_message(message)
bus.flush()
"""


class Unavailable(Exception):
    """The reason why the machine cannot run a private bus."""


@dataclass(frozen=True)
class Inhibitor:
    what: str
    who: str
    why: str
    mode: str


class Bus:
    """A private bus. When the bus ends, all services that were started on the bus also stop."""

    def __init__(self):
        for program in ("dbus-daemon", "busctl", SYSTEM_PYTHON):
            if not shutil.which(program):
                raise Unavailable(f"needs {program}")
        if subprocess.run([SYSTEM_PYTHON, "-c", "import dbusmock"], capture_output=True, check=False).returncode:
            raise Unavailable("needs python3-dbusmock")
        self.folder = Path(tempfile.mkdtemp(prefix="backhaul-bus-"))
        self.socket = self.folder / "bus"
        self.address = f"unix:path={self.socket}"
        self.environment = {"DBUS_SYSTEM_BUS_ADDRESS": self.address}
        self.daemon = None
        self.services = []
        self.start()

    def start(self):
        """Starts the bus. A start after `stop` uses the same address."""
        configuration = self.folder / "bus.conf"
        configuration.write_text(CONFIGURATION.format(socket=self.socket))
        self.socket.unlink(missing_ok=True)
        with open(self.folder / "bus.log", "ab") as log:
            self.daemon = subprocess.Popen(["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"],
                                           stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait(self.is_listening, "the bus did not start")

    def is_listening(self):
        # `busctl status` cannot be used: it reads the bus daemon's control group and fails on a machine without
        # cgroup2.
        return self.socket.exists() and not subprocess.run(
            self.busctl("call", *BUS, "GetId"), capture_output=True, check=False).returncode

    def stop(self):
        """Stops the bus and its services."""
        for service in self.services:
            service.stop()
        end(self.daemon)
        self.socket.unlink(missing_ok=True)

    def hang(self):
        """Stops the bus daemon with SIGSTOP. Until `continue_process`, the bus daemon accepts connections, but sends no
        reply."""
        self.daemon.send_signal(signal.SIGSTOP)

    def continue_process(self):
        self.daemon.send_signal(signal.SIGCONT)

    def network_manager(self):
        return self.add(NetworkManager(self))

    def logind(self):
        return self.add(Logind(self))

    def add(self, service):
        self.services.append(service)
        return service

    def busctl(self, *words):
        return ["busctl", f"--address={self.address}", "--json=short", *map(str, words)]

    def call(self, name, path, interface, method, *arguments):
        """Calls the method and returns its result. The arguments are a signature and its values, as for busctl."""
        ended = subprocess.run(self.busctl("call", name, path, interface, method, *arguments), capture_output=True,
                               text=True, timeout=LIMIT, check=False)
        assert ended.returncode == 0, f"{method}: {ended.stderr}"
        return json.loads(ended.stdout)["data"] if ended.stdout.strip() else None

    def send_false_signals(self):
        """Sends forged signals to each connection, from a connection that owns no service name."""
        subprocess.run([SYSTEM_PYTHON, "-c", FALSE_SIGNALS], env=self.environment, timeout=LIMIT, check=True)

    def has_owner(self, name):
        return self.call(*BUS, "NameHasOwner", "s", name) == [True]

    def end(self):
        self.continue_process()
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Service:
    """A service of python-dbusmock."""

    name = path = interface = template = None

    def __init__(self, bus):
        self.bus = bus
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [SYSTEM_PYTHON, "-m", "dbusmock", "--template", self.template, "--logfile",
             str(self.bus.folder / f"{self.template}.log")],
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **self.bus.environment}, stdin=subprocess.DEVNULL)
        wait(lambda: self.bus.has_owner(self.name), f"{self.name} did not come")
        self.prepare()

    def prepare(self):
        """Adds the properties that the template of dbusmock lacks."""

    def stop(self):
        self.continue_process()
        end(self.process)

    def hang(self):
        """Stops the service with SIGSTOP. Until `continue_process`, the service sends no reply."""
        self.process.send_signal(signal.SIGSTOP)

    def continue_process(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)

    def mock(self, method, *arguments, path=None):
        return self.bus.call(self.name, path or self.path, MOCK, method, *arguments)

    def update(self, path=None, interface=None, **properties):
        """Sets properties and sends their signals. Each property is a pair of a signature and a value."""
        # A separate call sets each property. dbusmock 0.28 cannot update several properties in one call if one of them
        # is the path of an object.
        for name, value in properties.items():
            self.bus.call(self.name, path or self.path, "org.freedesktop.DBus.Properties", "Set", "ssv",
                          interface or self.interface, name, *value)

    def calls(self, method):
        """Returns how often a method was called on the service's main object."""
        return len(self.mock("GetMethodCalls", "s", method)[0])


class NetworkManager(Service):
    name, path, interface, template = NETWORK_MANAGER, NETWORK_MANAGER_PATH, NETWORK_MANAGER, "networkmanager"

    def prepare(self):
        self.connections = 0
        self.mock("AddProperties", "sa{sv}", NETWORK_MANAGER, 3, "Metered", "u", GUESS_NO,
                  "PrimaryConnection", "o", "/", "PrimaryConnectionType", "s", "")

    def set_metered(self, metered):
        self.update(Metered=("u", metered))

    def set_connectivity(self, connectivity):
        self.update(Connectivity=("u", connectivity))

    def connect(self, name, kind="802-3-ethernet", metered=None):
        """Creates a connection and makes it the primary connection, as after a change of network. Returns the path of
        the connection's object."""
        self.connections += 1
        path = f"{NETWORK_MANAGER_PATH}/ActiveConnection/{self.connections}"
        self.mock("AddObject", "ssa{sv}a(ssss)", path, ACTIVE, 3, "Id", "s", name, "Type", "s", kind,
                  "Uuid", "s", f"00000000-0000-0000-0000-{self.connections:012}", 0)
        properties = {"PrimaryConnection": ("o", path), "PrimaryConnectionType": ("s", kind)}
        if metered is not None:
            properties["Metered"] = ("u", metered)
        self.update(**properties)
        return path

    def rename(self, path, name):
        self.update(path=path, interface=ACTIVE, Id=("s", name))

    def hide(self):
        """Removes the main object from the bus. The real NetworkManager has no main object until its start is
        complete."""
        self.mock("RemoveObject", "s", self.path, path="/org/freedesktop")

    def show(self):
        """Adds the main object again, with a metered network. Like the real NetworkManager, the fake announces the
        object, but none of its properties."""
        self.mock("AddObject", "ssa{sv}a(ssss)", self.path, self.interface, 4, "Metered", "u", YES, "Connectivity", "u",
                  FULL, "PrimaryConnection", "o", "/", "PrimaryConnectionType", "s", "", 0, path="/org/freedesktop")
        self.mock("EmitSignal", "sssav", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", "oa{sa{sv}}", 2,
                  "o", self.path, "a{sa{sv}}", 0, path="/org/freedesktop")

    def disconnect(self):
        self.update(PrimaryConnection=("o", "/"), PrimaryConnectionType=("s", ""),
                    Connectivity=("u", NO_CONNECTIVITY))


class Logind(Service):
    name, path, interface, template = LOGIND, LOGIND_PATH, LOGIND_MANAGER, "logind"

    def prepare_for_sleep(self, is_preparing):
        """Announces a sleep (True) or the end of a sleep (False). The machine sleeps when no process has an inhibitor,
        which is a request to delay the sleep."""
        self.update(PreparingForSleep=("b", str(is_preparing).lower()))
        self.mock("EmitSignal", "sssav", LOGIND_MANAGER, "PrepareForSleep", "b", 1, "b", str(is_preparing).lower())

    def count_inhibitors(self):
        return len(self.inhibitors())

    def inhibitors(self):
        """Returns the inhibitors (requests to delay a sleep) that exist now."""
        found = self.bus.call(LOGIND, LOGIND_PATH, LOGIND_MANAGER, "ListInhibitors")
        return [Inhibitor(*one[:4]) for one in found[0]]

    def wait_for_inhibitors(self, count):
        wait(lambda: len(self.inhibitors()) == count, f"there are not {count} inhibitors")


def end(process):
    if process and process.poll() is None:
        process.terminate()
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait(condition, complaint):
    limit = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < limit, complaint
        time.sleep(0.02)


def serve(bus):
    """Runs commands for tests in other languages. Each line of the input is a command: words that are separated by
    tabs, such as `network connect Home gsm`.

    A service is created when a line names it for the first time. The reply to each line is one line.
    """
    made = {"bus": bus}
    makers = {"network": bus.network_manager, "logind": bus.logind}
    for line in sys.stdin:
        name, method, *words = line.rstrip("\n").split("\t")
        if name not in made:
            made[name] = makers[name]()
        try:
            print(getattr(made[name], method)(*(int(word) if word.isdecimal() else word for word in words)), flush=True)
        except (AssertionError, OSError, subprocess.SubprocessError) as reason:
            print("failed:", " ".join(str(reason).split()), flush=True)


def main():
    """Runs a bus that reads commands from its standard input, for experiments and for tests in other languages.

    The program first prints the address of the bus, and ends when its input ends.
    """
    try:
        with Bus() as bus:
            print(bus.address, flush=True)
            serve(bus)
    except Unavailable as reason:
        sys.exit(f"A private bus cannot run here: it {reason}.")


if __name__ == "__main__":
    main()
