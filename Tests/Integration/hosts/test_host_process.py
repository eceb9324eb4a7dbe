"""The library works in unusual hosts, and does not disturb their processes."""

import signal
import subprocess
import sys
import time

import pytest

from backhaul import NotFound, Request, Role, TaskState
from servers import child
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from servers.misbehaving import MisbehavingServer
from testbed.host import state_of, until

CONTENT = Content(2_000_000)


def test_a_host_that_exits_during_a_transfer_keeps_its_exit_status(host, nginx, served, certificates, downloads):
    one = host()
    one.session(ca_file=str(certificates.authority))
    slow = nginx.tls_url + "/slow/"
    one.enqueue([Request(slow + name, downloads / name, key=name) for name in served.names[:20]])
    assert one.exit() == 0
    again = host()
    again.attach()
    assert len(again.wait_for()) == 21
    assert {name: sha256_of(downloads / name) for name in served.names[:20]} == {
        name: served.digests[name] for name in served.names[:20]}


def test_the_last_close_ends_all_threads_and_closes_all_descriptors(host, misbehaving, downloads):
    one = host(opened=False)
    threads = one.thread_names()
    left = []
    for _ in range(3):
        one.open()
        one.session()
        one.download(misbehaving.serve("/a", CONTENT), downloads / "a", if_exists="replace")
        one.acknowledge(one.wait_for())
        one.close()
        assert one.thread_names() == threads
        left.append(one.open_descriptors())
    # libuv keeps one pipe open until the process exits. Other descriptors that stay open would increase the number of
    # open descriptors.
    assert left[0] == left[1] == left[2]


def test_an_idle_engine_uses_almost_no_processor_time(one):
    before = one.processor_seconds()
    time.sleep(3)
    assert one.processor_seconds() - before < 0.05


def test_the_library_does_not_change_the_signal_dispositions_of_the_host(host):
    one = host(opened=False)
    before = one.signal_dispositions()
    one.open()
    one.session()
    assert one.signal_dispositions() == before
    one.close()
    assert one.signal_dispositions() == before


def test_a_transfer_continues_after_its_host_was_stopped_by_sigstop_and_continued(host, misbehaving, downloads):
    one = host()
    one.session(first_delay_ms=50, request_timeout_ms=1_000)
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(pace=1_000_000)), downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent > 0)
    one.stop()
    # The pause is longer than the request time-out, which limits the time without a byte.
    time.sleep(2)
    one.signal(signal.SIGCONT)
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_an_open_with_too_few_descriptors_fails_with_an_error_and_does_not_crash(host, misbehaving, downloads):
    one = host(opened=False)
    one.limit_descriptors(6)
    with pytest.raises(Exception) as caught:
        one.open()
    assert hasattr(caught.value, "status"), caught.value
    one.limit_descriptors(4)
    with pytest.raises(Exception) as caught:
        one.open()
    assert hasattr(caught.value, "status"), caught.value


def test_a_transfer_succeeds_while_the_host_handles_frequent_signals(host, misbehaving, downloads):
    one = host()
    one.session(first_delay_ms=20)
    one.start_alarms()
    one.download(misbehaving.serve("/a", CONTENT, [Behaviour(drop_after=900_000)], otherwise=Behaviour(pace=2_000_000)),
                 downloads / "a")
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert one.stop_alarms() > 0  # Python runs its handlers only between C calls, so not every signal is counted.
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_a_lost_connection_sends_no_sigpipe_to_the_host(host, certificates, downloads):
    with MisbehavingServer(certificates.server_context()) as secure:
        one = host()
        one.default_signals()
        one.session(first_delay_ms=10, ca_file=str(certificates.authority))
        faults = [Behaviour(drop_after=1_000, reset=True)] * 5
        one.enqueue([Request(secure.serve(f"/{i}", CONTENT, list(faults)), downloads / str(i)) for i in range(8)])
        assert {event.state for event in one.wait_for()[:-1]} == {TaskState.SUCCEEDED}


def test_a_transfer_succeeds_although_the_host_calls_dlclose(misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(pace=4_000_000)), downloads / "a")
    one.unload()
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert one.exit() == 0


@pytest.mark.parametrize("curl", ["libcurl.so.4", "libcurl-gnutls.so.4"])
def test_a_host_can_use_its_own_libcurl(host, nginx, served, certificates, downloads, curl):
    one = host()
    one.session(ca_file=str(certificates.authority))
    slow = nginx.tls_url + "/slow/"
    one.enqueue([Request(slow + name, downloads / name) for name in served.names[:10]])
    for _ in range(5):
        code = one.fetch_with(curl, f"{nginx.tls_url}/{served.names[0]}")
        if code is None:
            pytest.skip(f"{curl} is not installed")
        assert code == 0
    assert {event.state for event in one.wait_for()[:-1]} == {TaskState.SUCCEEDED}
    assert one.exit() == 0


def test_a_program_that_the_host_starts_inherits_no_descriptor_of_the_library(host, misbehaving, downloads):
    one = host(opened=False)
    before = one.inherited()
    one.open()
    one.session()
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(stall_after=10)), downloads / "a")
    misbehaving.wait_until(lambda log: len(log) == 1)
    ours = {target for target in one.open_descriptors().values() if str(downloads.parent) in target}
    assert ours, "the host has no open file of the store"
    more = [target for number, target in one.inherited().items() if number not in before]
    # libcurl 7.88 makes both ends of its wake-up socket pair inheritable, and does not report their numbers.
    assert len(more) <= 2 and all(target.startswith("socket:") for target in more), more


def test_the_library_prints_nothing(store, misbehaving, downloads):
    program = (
        "import sys, backhaul; from backhaul import Hosting, RetryPolicy\n"
        "with backhaul.Application('org.example.quiet', sys.argv[1], hosting=Hosting.EMBEDDED) as application:\n"
        "    with application.session('s', retry=RetryPolicy(maximum_attempts=1)) as session:\n"
        "        session.download(sys.argv[2] + '/nowhere')\n"
        "        session.download('http://name.invalid/')\n"
        "        for event in session.events():\n"
        "            if event.is_session_finished: break\n"
    )
    done = subprocess.run([sys.executable, "-c", program, store, misbehaving.url], capture_output=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_ctrl_c_interrupts_a_wait_for_events(store):
    program = (
        "import sys, backhaul; from backhaul import Hosting\n"
        "application = backhaul.Application('org.example.interrupted', sys.argv[1], hosting=Hosting.EMBEDDED)\n"
        "session = application.session('s')\n"
        "try:\n"
        "    print('waiting', flush=True)\n"
        "    next(session.events())\n"
        "except KeyboardInterrupt:\n"
        "    session.close(); application.close(); sys.exit(42)\n"
    )
    process = child.start([sys.executable, "-c", program, store], stdout=subprocess.PIPE)
    with process.stdout:
        assert process.stdout.readline() == b"waiting\n"
        until(lambda: state_of(process.pid), lambda state: state == "S")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 42


def test_when_a_host_closes_its_application_another_process_can_read_the_sessions_events(host):
    one, other = host(), host()
    one.session()
    one.close()
    other.attach()
    with pytest.raises(NotFound):
        other.attach("unknown", role=Role.OBSERVE)
    assert until(other.all_sessions, lambda infos: infos[0].consumer == other.pid)
