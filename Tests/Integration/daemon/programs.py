"""Small hosts in unusual environments: `python -m daemon.programs NAME STORE`. A host is a process that embeds the
library. Each host prints its result as JSON."""

import ctypes
import errno
import json
import os
import signal
import struct
import sys
import time

import backhaul

# Constants of <linux/filter.h> and <linux/seccomp.h>.
LOAD, EQUAL, BITS_SET, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
NUMBERS = {"x86_64": {"clone": 56, "execve": 59}, "aarch64": {"clone": 220, "execve": 221}}[os.uname().machine]
CLONE_THREAD = 0x10000


def open_and_create(store):
    """Opens an application that uses the daemon, and creates a session. Returns the name and message of the error, or
    None."""
    try:
        with backhaul.Application("org.example.peculiar", store, timeout=20) as application:
            application.session("s").close()
        return None
    except backhaul.BackhaulError as error:
        return [type(error).__name__, str(error)]


def own_handler(store):
    """Counts SIGCHLD while the library starts the daemon. Reports whether the host's own child is the only child that
    can be reaped."""
    seen = []
    signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
    child = os.fork()
    if child == 0:
        os._exit(3)
    while not seen:
        time.sleep(0.01)
    failed = open_and_create(store)
    reaped = []
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if process == 0:
            break
        reaped.append(process)
    return {"error": failed, "signals": len(seen), "reaped": reaped == [child]}


def ignored_children(store):
    """Ignores SIGCHLD. The kernel then reaps all children, so a process cannot wait for the exit status of a
    child."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return {"error": open_and_create(store)}


def waiting_thread(store):
    """Runs a second thread that waits for any child again and again, without a pause."""
    import threading
    stop, reaped = threading.Event(), []

    def reap():
        while not stop.is_set():
            try:
                reaped.append(os.waitpid(-1, os.WNOHANG)[0])
            except ChildProcessError:
                pass

    thread = threading.Thread(target=reap)
    thread.start()
    failed = open_and_create(store)
    stop.set()
    thread.join()
    return {"error": failed, "reaped": [process for process in reaped if process]}


def many_descriptors(store):
    """Opens thousands of files that a started program would inherit."""
    import resource
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    for _ in range(min(hard, 20_000) - 1_000):
        os.set_inheritable(os.dup(0), True)
    return {"error": open_and_create(store)}


def small_limits(store):
    """Sets small soft limits, as a shell may do. A daemon must not inherit these limits."""
    import resource
    for kind, value in ((resource.RLIMIT_NOFILE, 64), (resource.RLIMIT_FSIZE, 1 << 20), (resource.RLIMIT_CPU, 30)):
        resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))
    return {"error": open_and_create(store)}


def blocked_signals(store):
    """Blocks all signals, and ignores some of them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    return {"error": open_and_create(store)}


def forbid(*, action, system_call, unless_flags=0):
    """Installs a filter of system calls for this thread and the threads that it starts (seccomp(2)). The filter still
    allows a call whose first argument has one of the bits in `unless_flags`."""
    def step(code, value, if_true=0, if_false=0):
        return struct.pack("HBBI", code, if_true, if_false, value)

    steps = [step(LOAD, 0), step(EQUAL, NUMBERS[system_call], 0, 3 if unless_flags else 1)]
    if unless_flags:
        # Loads the low half of the first argument of the system call, in little endian.
        steps += [step(LOAD, 16), step(BITS_SET, unless_flags, 1, 0)]
    steps += [step(RETURN, action), step(RETURN, ALLOW)]
    code = b"".join(steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(program), 0, 0) == 0


def no_exec(store):
    forbid(action=REFUSE, system_call="execve")
    return {"error": open_and_create(store)}


def deadly_exec(store):
    forbid(action=KILL, system_call="execve")
    return {"error": open_and_create(store)}


def no_processes(store):
    """Forbids new processes, and allows new threads."""
    forbid(action=REFUSE, system_call="clone", unless_flags=CLONE_THREAD)
    return {"error": open_and_create(store)}


def plain(store):
    return {"error": open_and_create(store)}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
