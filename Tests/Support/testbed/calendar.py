"""Sets the calendar clock of hosts that use the debug library. The environment variable BACKHAUL_CLOCK names the
file that sets the clock."""

import struct
import time


class Calendar:
    """The difference between the calendar clocks of the hosts and of the machine, in milliseconds."""

    def __init__(self, path):
        self.path = path
        self.move(0)

    def move(self, milliseconds):
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("<q", int(milliseconds)))

    def start_in_1970(self):
        self.move(-time.time() * 1000 + 60_000)
