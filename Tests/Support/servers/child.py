"""Child processes that never outlive the process that started them, however it ends."""

import os
import subprocess

# The signal for the parent's death is asked for first, so that a parent that is already dead is noticed.
_LEASH = '[ $PPID = "$0" ] && exec "$@"'


def start(command, **options):
    """A Popen whose process gets SIGKILL when the thread that started it ends."""
    leash = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _LEASH, str(os.getpid())]
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
