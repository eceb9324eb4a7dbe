"""Child processes that never outlive the process that started them, however it ends."""

import os
import signal
import subprocess
import sys

# Runs in the child before the program: a signal for the parent's death, then a look whether it is dead already.
_LEASH = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, int(sys.argv[2]))
if os.getppid() != int(sys.argv[1]): sys.exit(1)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def start(command, **options):
    """A Popen whose process gets SIGKILL when the thread that started it ends."""
    leash = [sys.executable, "-I", "-S", "-c", _LEASH, str(os.getpid()), str(int(signal.SIGKILL))]
    return subprocess.Popen([*leash, *map(str, command)], **options)


def end(process, timeout=10):
    """Ends a process: politely, then surely."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
