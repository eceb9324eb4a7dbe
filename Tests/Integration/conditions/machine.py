"""A fake machine: files for /sys and /proc/pressure, and the uevents that a kernel sends when these files change."""

import os
import socket

NETLINK_KOBJECT_UEVENT = 15
KERNEL = 1

TRIP_POINTS = {0: ("passive", 85), 1: ("critical", 100)}


class Machine:
    """A fake machine. At first, no condition, such as power or heat, can be read. `network` runs functions in the
    network namespace of the hosts. The machine sends uevents to this namespace."""

    def __init__(self, folder, network=None):
        self.folder, self._network = folder, network
        self.system, self.processes = folder / "sys", folder / "proc"
        for kind in ("power_supply", "thermal", "net"):
            (self.system / "class" / kind).mkdir(parents=True)
        self.processes.mkdir()
        self.environment = {
            "BACKHAUL_SYS_ROOT": str(self.system), "BACKHAUL_PROC_ROOT": str(self.processes),
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={folder}/no-bus", "TZ": "UTC",
        }

    def write(self, root, path, text):
        """Replaces the file atomically. As with real files of the kernel, a reader never sees a partial write."""
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f".{file.name}.new")
        beside.write_text(f"{text}\n")
        os.replace(beside, file)

    def send_uevent(self, subsystem, device):
        """Sends the uevent for a changed device."""
        message = "\0".join([f"change@/devices/{device}", "ACTION=change", f"SUBSYSTEM={subsystem}", "SEQNUM=1", ""])

        def send():
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_KOBJECT_UEVENT) as kernel:
                kernel.sendto(message.encode(), (0, KERNEL))

        if self._network:
            self._network.inside(send)

    # Power

    def _supply(self, name, **attributes):
        for attribute, value in attributes.items():
            self.write(self.system, f"class/power_supply/{name}/{attribute}", value)

    def laptop(self, percent=80):
        """Adds external power, and a battery that charges."""
        self._supply("BAT0", type="Battery", present=1, status="Charging", capacity=percent)
        self._supply("AC", type="Mains", online=1)
        self.send_uevent("power_supply", "AC")

    def unplug(self, percent=None):
        if percent is not None:
            self._supply("BAT0", capacity=percent)
        self._supply("BAT0", status="Discharging")
        self._supply("AC", online=0)
        self.send_uevent("power_supply", "AC")

    def plug(self):
        self._supply("BAT0", status="Charging")
        self._supply("AC", online=1)
        self.send_uevent("power_supply", "AC")

    def battery(self, percent):
        self._supply("BAT0", capacity=percent)
        self.send_uevent("power_supply", "BAT0")

    # Heat

    def heat(self, degrees):
        """Sets the temperature of one thermal zone. The thermal state is fair from 85 degrees, serious from 90 degrees,
        and critical from 97 degrees."""
        zone = "class/thermal/thermal_zone0"
        if not (self.system / zone).exists():
            for number, (kind, limit) in TRIP_POINTS.items():
                self.write(self.system, f"{zone}/trip_point_{number}_type", kind)
                self.write(self.system, f"{zone}/trip_point_{number}_temp", limit * 1_000)
            self.write(self.system, f"{zone}/type", "x86_pkg_temp")
        self.write(self.system, f"{zone}/temp", degrees * 1_000)
        self.send_uevent("thermal", "thermal_zone0")

    # Pressure

    def pressure(self, **percents):
        """Sets the pressure. With `cpu=40`, at least one process waited for a processor during 40 percent of the last
        ten seconds. No event reports a change, so the engine reads the pressure every 30 seconds."""
        for resource, percent in percents.items():
            self.write(self.processes, f"pressure/{resource}",
                       f"some avg10={percent:.2f} avg60=0.00 avg300=0.00 total=1\n"
                       "full avg10=0.00 avg60=0.00 avg300=0.00 total=0")
