"""Child processes that never outlive the process that started them, however that process ends."""

import os
import subprocess

# setpriv first requests the signal. Then the shell checks its parent, which may have ended before that.
_LEASH = '[ $PPID = "$0" ] && exec "$@"'


def start(command, **options):
    """Returns a Popen whose process gets SIGKILL when the thread that started it ends."""
    leash = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _LEASH, str(os.getpid())]
    return subprocess.Popen([*leash, *map(str, command)], **options)


def end(process, timeout=10):
    """Ends a process with SIGTERM, or with SIGKILL if it has not ended after the time-out."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
