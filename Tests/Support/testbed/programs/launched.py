"""A program that the engine launches (starts), because a session of the program has events. It connects to the socket
of the test. Then it performs the calls that the test sends, as host_agent.py does.

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
    # host_agent reads the calls from the standard input, and writes the results to the standard output. The engine
    # starts this program with /dev/null as both streams, so the connection to the test replaces them.
    os.dup2(test.fileno(), 0)
    os.dup2(test.fileno(), 1)
    test.close()
    host_agent.main()


if __name__ == "__main__":
    main()
