"""A host that performs the calls of a test. The test sends pickled calls to the standard input, one after the other.

The results are values that the test's process can unpickle. The test can observe this process from outside.
"""

import _ctypes
import asyncio
import ctypes
import dataclasses
import functools
import gc
import json
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import time
import traceback
from contextlib import suppress

import backhaul
from testbed.settings import nested

#: A flag of threads that are exiting (linux/sched.h). The flags are in field 9 of proc_pid_stat(5).
PF_EXITING = 0x4


def plain(value):
    """Returns a value that another process can read."""
    if isinstance(value, backhaul.Task):
        return value.id
    if isinstance(value, backhaul.Session):
        return value.created
    if isinstance(value, backhaul.Events):
        return [plain(item) for item in value.items]
    if isinstance(value, (list, backhaul.EventStream)) or hasattr(value, "__next__"):
        return [plain(item) for item in value]
    return value


class HostAgent:
    """The calls that a test can make by name. If a test uses another name, a method of the selected session is called.
    """

    application = None
    sessions = ()

    def open(self, store, identifier="org.example.hosts", **options):
        self.application = backhaul.Application(identifier, store, **options)
        self.sessions = []

    def session(self, identifier="gallery", **options):
        """Creates a session or attaches to it, and selects it for the following methods."""
        self.sessions.insert(0, self.application.session(identifier, **nested(**options)))
        return self.sessions[0].created

    def attach(self, identifier="gallery", **options):
        self.sessions.insert(0, self.application.attach(identifier, **options))

    def select_session(self, identifier):
        """Selects one of the open sessions for the following methods."""
        self.sessions.sort(key=lambda session: session.identifier != identifier)

    def reconfigure(self, **fields):
        """Changes these fields of the session's configuration, and keeps the other fields."""
        now = self.sessions[0].configuration()
        self.sessions[0].set_configuration(dataclasses.replace(now, **nested(parts=vars(now), **fields)))

    def all_sessions(self):
        return self.application.sessions()

    def engine(self):
        return self.application.engine()

    def attention(self, timeout=0):
        return self.application.poll(timeout=timeout)

    def attention_after_edges(self):
        """Returns the first sessions that need attention. Watches the descriptor edge-triggered (epoll(7)), and polls
        one time after each edge."""
        with select.epoll() as edges:
            edges.register(self.application.fileno(), select.EPOLLIN | select.EPOLLET)
            while True:
                edges.poll()
                with suppress(TimeoutError, backhaul.EngineError):
                    if found := self.application.poll(timeout=0):
                        return found

    def next_attention(self):
        return next(self.application.attention())

    def next_attention_async(self):
        return asyncio.run(anext(self.application.attention()))

    def metrics(self):
        return self.application.metrics()

    def limits(self):
        return self.application.limits()

    def set_limits(self, limits):
        self.application.set_limits(limits)

    def set_network(self, network):
        self.application.set_network(network)

    def networks(self):
        return self.application.networks()

    def conditions(self):
        return self.application.conditions()

    def holds(self):
        return self.application.holds()

    def launches(self):
        return self.application.launches()

    def current_launch(self):
        return self.application.current_launch()

    def set_launch(self, command):
        self.application.set_launch(command)

    def close_session(self):
        self.sessions.pop(0).close()

    def close(self):
        self.application.close()
        while self.sessions:
            self.close_session()

    def page(self, after, maximum):
        """Returns the events after an id, and whether there were more."""
        found = self.sessions[0].poll(after, maximum)
        return [plain(event) for event in found.items], found.more

    def wait_for(self, count=None, timeout=180):
        """Reads events, from the first unacknowledged event on. With `count`, it reads this number of events. Without
        `count`, it reads until the last round of the session has finished. A round ends when all tasks of the session
        have ended.

        The number of rounds depends on timing. So without `count`, the result has the end of the last round only.

        Fails if these events do not come within `timeout` seconds.
        """
        events = []
        for event in self.sessions[0].events(timeout=timeout):
            if count is None and event.is_session_finished and self.has_later_round(event):
                continue
            events.append(event)
            if event.is_session_finished if count is None else len(events) == count:
                return events
        raise AssertionError(f"after {timeout} s, there are only these events: {events}")

    def unacknowledged(self):
        """Returns the events that are available now, without a wait for further events."""
        return list(self.sessions[0].events(timeout=0))

    def has_later_round(self, event):
        """Returns whether a later round has ended or will end."""
        session = self.sessions[0]
        if any(not task.state.has_ended for task in session.tasks()):
            return True
        return any(later.is_session_finished for later in session.poll(event.id, timeout=0).items)

    def started(self, name, *arguments, **options):
        """Starts a function of the library and returns. The ticket, which stands for the function's result, stays in
        this process until ``outcome``."""
        self.ticket = getattr(self.sessions[0].start, name)(*arguments, **options)

    def outcome(self, timeout=None):
        return self.ticket.result(timeout)

    def start_attach(self, identifier, role):
        """Starts to attach to a session and returns. The ticket stays in this process until ``finish_attach``."""
        self.ticket = self.application.start.attach(identifier, role)

    def finish_attach(self, timeout=30):
        self.sessions.insert(0, self.ticket.result(timeout))

    def is_done(self):
        return self.ticket.done

    def release_ticket(self):
        del self.ticket
        gc.collect()

    def engine_pid(self):
        return self.application.engine().process_id

    def drop_privileges(self, user, group):
        """Drops root's rights permanently."""
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)

    def set_umask(self, mask):
        return os.umask(mask)

    def limit_descriptors(self, count):
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

    def open_descriptors(self):
        """Returns the target of each open descriptor."""
        names = {}
        for number in os.listdir("/proc/self/fd"):
            try:
                names[int(number)] = os.readlink(f"/proc/self/fd/{number}")
            except OSError:
                continue
        return names

    def thread_names(self):
        """Returns the names of the threads that are not exiting. The kernel may list a thread for a moment after
        pthread_join(3) has returned."""
        names = []
        for thread in os.listdir("/proc/self/task"):
            with suppress(FileNotFoundError, ProcessLookupError):
                stat = open(f"/proc/self/task/{thread}/stat").read()
                name, _, fields = stat.partition("(")[2].rpartition(")")
                if not int(fields.split()[6]) & PF_EXITING:
                    names.append(name)
        return sorted(names)

    def signal_dispositions(self):
        return {number: signal.getsignal(number) for number in signal.valid_signals()}

    def processor_seconds(self):
        times = os.times()
        return times.user + times.system

    def start_alarms(self):
        """Makes this program handle SIGALRM a thousand times a second."""
        self.alarm_count = 0

        def count(*_):
            self.alarm_count += 1

        signal.signal(signal.SIGALRM, count)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)

    def stop_alarms(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        return self.alarm_count

    def default_signals(self):
        """Sets the signal dispositions that a C program has. Python ignores SIGPIPE, and a C program does not."""
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)

    def unload(self):
        """Calls dlclose while the library is still in use. Programs with plug-ins may do this."""
        _ctypes.dlclose(backhaul._library.library._handle)

    def fail_allocations(self, library, first, count):
        """Makes `count` allocations of the named library fail. The first of them is allocation number `first`
        (Tests/Integration/retries/fault_injection.c)."""
        loaded = ctypes.CDLL(None)
        loaded.fail_allocations.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_long]
        if not loaded.fail_allocations(library.encode(), first, count):
            raise LookupError(library)

    def allocation_count(self):
        return ctypes.CDLL(None).allocation_count()

    def fail_epoll_adds(self, first, count):
        """Makes epoll_ctl(2) fail in `count` calls that add a descriptor. The first of these calls is call number
        `first`."""
        ctypes.CDLL(None).fail_epoll_adds(ctypes.c_long(first), ctypes.c_long(count))

    def fail_process_reads(self, first, count):
        """Makes the opening of /proc/PID/stat fail in `count` calls. The first of these calls is call number
        `first`."""
        ctypes.CDLL(None).fail_process_reads(ctypes.c_long(first), ctypes.c_long(count))

    def fetch_with(self, curl, url):
        """Makes one transfer with the libcurl that has the file name `curl`. Returns the CURLcode, or None if this
        libcurl is not installed."""
        try:
            other = ctypes.CDLL(curl)
        except OSError:
            return None
        other.curl_easy_init.restype = ctypes.c_void_p
        easy = ctypes.c_void_p(other.curl_easy_init())
        other.curl_easy_setopt(easy, ctypes.c_int(10002), ctypes.c_char_p(url.encode()))  # CURLOPT_URL
        other.curl_easy_setopt(easy, ctypes.c_int(64), ctypes.c_long(0))  # CURLOPT_SSL_VERIFYPEER
        other.curl_easy_setopt(easy, ctypes.c_int(44), ctypes.c_long(1))  # CURLOPT_NOBODY
        return other.curl_easy_perform(easy)

    def inherited(self):
        """Starts a program without closing descriptors before the start. Returns the descriptors of this program."""
        listing = "import os, json; print(json.dumps({n: os.readlink(f'/proc/self/fd/{n}') for n in os.listdir(" \
                  "'/proc/self/fd') if os.path.islink(f'/proc/self/fd/{n}')}))"
        done = subprocess.run([sys.executable, "-I", "-c", listing], close_fds=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=True)
        return {int(number): target for number, target in json.loads(done.stdout).items()}

    def fork(self):
        """Forks a child that keeps all inherited resources, and does not exit.

        The child calls a function with the parent's session and a function with the parent's application, and opens an
        application. This method returns the child's process id and the errors of the three calls.
        """
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(1_000)
            outcomes = []
            reopen = functools.partial(backhaul.Application, "org.example.hosts", "/nonexistent")
            for verb in (self.sessions[0].configuration, self.application.sessions, reopen):
                outcomes.append(outcome_of(verb)[1])
            os.write(writer, pickle.dumps(outcomes))
            os.close(writer)
            while True:
                time.sleep(60)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            return child, pickle.load(pipe)


def outcome_of(function, *arguments, **options):
    """Returns a pair: the result of the function, and its error. If the function raises no error, the error is None.
    """
    try:
        return plain(function(*arguments, **options)), None
    except backhaul.BackhaulError as error:
        return None, error
    except Exception:
        return None, RuntimeError(traceback.format_exc())


def main():
    host_agent, source, sink = HostAgent(), sys.stdin.buffer, sys.stdout.buffer
    while size := source.read(8):
        name, arguments, options = pickle.loads(source.read(struct.unpack("<Q", size)[0]))
        function = getattr(host_agent, name, None) or getattr(host_agent.sessions[0], name)
        reply = pickle.dumps(outcome_of(function, *arguments, **options))
        sink.write(struct.pack("<Q", len(reply)) + reply)
        sink.flush()


if __name__ == "__main__":
    main()
