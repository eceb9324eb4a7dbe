"""Child processes that never outlive the process that started them, however that process ends."""

import os
import subprocess

# The signal is requested first (setpriv), and then the parent is checked: it may be dead already.
_LEASH = '[ $PPID = "$0" ] && exec "$@"'


def start(command, **options):
    """Returns a Popen whose process gets SIGKILL when the thread that started it ends."""
    leash = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _LEASH, str(os.getpid())]
    return subprocess.Popen([*leash, *map(str, command)], **options)


def end(process, timeout=10):
    """Ends a process: with SIGTERM, and after a time with SIGKILL."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
