"""Child processes that end when the process that started them ends, even if that process is killed."""

import os
import subprocess

# A script for the shell that `setpriv` starts. `setpriv` has already requested that the kernel sends this process a
# signal when the parent ends. If the parent ended before this request, the signal never comes. So the script runs the
# command only if the parent still runs.
_LEASH = '[ $PPID = "$0" ] && exec "$@"'


def start(command, **options):
    """Returns a Popen whose process gets SIGKILL when the thread that started it ends."""
    leash = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _LEASH, str(os.getpid())]
    return subprocess.Popen([*leash, *map(str, command)], **options)


def end(process, timeout=10):
    """Ends a process with SIGTERM. If the process has not ended after the time-out, ends it with SIGKILL."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
