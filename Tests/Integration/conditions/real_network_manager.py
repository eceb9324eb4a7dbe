"""The real NetworkManager, on a private bus and in a private network. NetworkManager sees no device of the system,
and reads and writes no file of the system."""

import os
import shutil
import subprocess

from conditions.buses import LIMIT, NETWORK_MANAGER, Unavailable, end, wait
from servers import child
from testbed.network import HERE, THERE

CONFIGURATION = """[main]
plugins=keyfile
dhcp=internal
dns=none
rc-manager=unmanaged
auth-polkit=false
no-auto-default=*
[keyfile]
path={folder}/connections
[connectivity]
enabled=false
"""

# If /sys is read-only, NetworkManager does not wait for udev. The tmpfs mounts hide the system's files from
# NetworkManager.
SCRIPT = """
mount -t sysfs -o ro sysfs /sys && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib/NetworkManager &&
exec NetworkManager --no-daemon --config="$0/NetworkManager.conf" --config-dir="$0/none" --system-config-dir="$0/none" \
    --intern-config="$0/intern.conf" --state-file="$0/state" --pid-file="$0/pid"
"""


class RealNetworkManager:
    """The real NetworkManager. A virtual cable connects the network of the hosts with the network of the servers.
    NetworkManager manages the hosts' end of this cable. NetworkManager is a service of the bus, and stops when the bus
    stops."""

    def __init__(self, bus, network, folder):
        self.bus, self.network, self.folder = bus, network, folder / "network-manager"
        self.environment = {**os.environ, **bus.environment, "LC_ALL": "C.UTF-8",
                            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        if not shutil.which("NetworkManager", path=self.environment["PATH"]):
            raise Unavailable("needs NetworkManager")
        for name in ("connections", "none"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "NetworkManager.conf").write_text(CONFIGURATION.format(folder=self.folder))
        self.process = None
        self.start()
        bus.add(self)

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = child.start([*self.network.prefix, "unshare", "--mount", "sh", "-c", SCRIPT, self.folder],
                                       env=self.environment, stdout=log, stderr=log)
        wait(self.has_begun, f"NetworkManager did not start; its output is in {self.folder}/log")

    def has_begun(self):
        if self.process.poll() is not None:
            raise Unavailable("cannot mount in a namespace, which NetworkManager needs")
        return self.bus.has_owner(NETWORK_MANAGER) and self.devices()

    def devices(self):
        """Returns the devices that NetworkManager manages, with their states."""
        lines = self.nmcli("--terse", "--fields", "DEVICE,STATE", "device").splitlines()
        return [line for line in lines if line.startswith("cable:") and not line.endswith(":unmanaged")]

    def nmcli(self, *words):
        """Runs `nmcli` and returns its output."""
        done = subprocess.run([*self.network.prefix, "nmcli", *words], env=self.environment, capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        assert done.returncode == 0, f"nmcli {' '.join(words)}: {done.stderr}"
        return done.stdout

    def connect(self, name, metered="unknown"):
        """Adds a connection on the cable, and activates it."""
        self.nmcli("connection", "add", "type", "ethernet", "con-name", name, "ifname", "cable", "autoconnect", "no",
                   "ipv4.method", "manual", "ipv4.addresses", f"{HERE}/24", "ipv4.gateway", THERE,
                   "ipv6.method", "disabled", "connection.metered", metered)
        self.nmcli("connection", "up", name)

    def set_metered(self, name, metered):
        self.nmcli("connection", "modify", name, "connection.metered", metered)
        self.nmcli("device", "reapply", "cable")

    def disconnect(self):
        self.nmcli("device", "disconnect", "cable")

    def reconnect(self, name):
        self.nmcli("connection", "up", name)

    def stop(self):
        end(self.process)
