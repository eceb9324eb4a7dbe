"""A program that the engine launches (starts), because a session of the program has events. It connects to the test,
and then performs the test's calls like host_agent.py.

Usage: python -m testbed.programs.launched SOCKET
"""

import os
import pickle
import socket
import struct
import sys

from testbed.programs import host_agent


def main():
    test = socket.socket(socket.AF_UNIX)
    test.connect(sys.argv[1])
    about = pickle.dumps({
        "pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0), "environment": dict(os.environ),
        "directory": os.getcwd(), "descriptors": sorted(map(int, os.listdir("/proc/self/fd")))[:-2],
    })
    test.sendall(struct.pack("<Q", len(about)) + about)
    # The calls use the standard streams, which are /dev/null at the start.
    os.dup2(test.fileno(), 0)
    os.dup2(test.fileno(), 1)
    test.close()
    host_agent.main()


if __name__ == "__main__":
    main()
