"""The library in somebody else's process: it survives what hosts do, and leaves no trace on them."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from backhaul import EngineError, Forked, NotFound, Request, Role, StoreError, TaskState
from hosts.host import until
from servers import child
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of

CONTENT = Content(2_000_000)
STALLED = Behaviour(stall_after=1_200_000)


def test_a_forked_child_is_told_to_open_afresh_and_does_no_harm(host, misbehaving, downloads):
    one = host()
    one.session()
    one.download(misbehaving.serve("/a", CONTENT, [STALLED]), downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 1_200_000)
    forked, errors = one.fork()
    try:
        assert [type(error) for error in errors] == [Forked, Forked]
        assert one.configuration().identifier == "gallery"
    finally:
        os.kill(forked, signal.SIGKILL)
    assert [info.identifier for info in one.all_sessions()] == ["gallery"]


def test_killing_the_parent_of_a_forked_child_leaves_the_store_to_the_next_process(host, misbehaving, downloads):
    one = host()
    one.session(first_retry_delay_ms=50)
    one.download(misbehaving.serve("/a", CONTENT, [STALLED]), downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 1_200_000)
    forked, _ = one.fork()
    try:
        one.kill()
        again = host()
        again.attach()
        assert again.wait_for()[0].state is TaskState.SUCCEEDED
        assert sha256_of(downloads / "a") == CONTENT.sha256
        os.kill(forked, 0)
    finally:
        os.kill(forked, signal.SIGKILL)


def test_a_forked_child_may_open_the_application_anew(host, store):
    one = host()
    one.session()
    status, (sessions, error) = one.fork_and_reopen(str(store))
    assert error is None
    assert [info.identifier for info in sessions] == ["gallery"]
    assert status == 7
    assert one.configuration().identifier == "gallery"


def test_a_host_that_closes_every_descriptor_lives_on_and_the_next_one_finishes(host, misbehaving, downloads):
    one = host()
    one.session(first_retry_delay_ms=50)
    one.download(misbehaving.serve("/a", CONTENT, [STALLED]), downloads / "a", key="a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 1_200_000)
    one.close_descriptors()
    try:
        one.configuration(timeout=10)
    except (EngineError, StoreError, TimeoutError, ValueError):
        pass
    assert one.processor_seconds() < 20
    assert one.leave() == 0
    again = host()
    again.attach()
    assert again.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_a_host_that_returns_in_mid_transfer_ends_with_its_own_status(host, nginx, served, certificates, downloads):
    one = host()
    one.session(ca_file=str(certificates.authority))
    slow = nginx.tls_url + "/slow/"
    one.enqueue([Request(slow + name, downloads / name, key=name) for name in served.names[:20]])
    assert one.leave() == 0
    again = host()
    again.attach()
    assert len(again.wait_for()) == 21
    assert {name: sha256_of(downloads / name) for name in served.names[:20]} == {
        name: served.digests[name] for name in served.names[:20]}


def test_threads_and_descriptors_are_gone_after_the_last_close(host, misbehaving, downloads):
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
    # libuv opens one pipe for the whole life of a process; more than that would grow.
    assert left[0] == left[1] == left[2]


def test_an_idle_engine_uses_no_processor_time(host):
    one = host()
    one.session()
    before = one.processor_seconds()
    time.sleep(3)
    assert one.processor_seconds() - before < 0.05


def test_signals_stay_the_hosts_own(host):
    one = host(opened=False)
    before = one.signal_dispositions()
    one.open()
    one.session()
    assert one.signal_dispositions() == before
    one.close()
    assert one.signal_dispositions() == before


def test_a_stopped_and_continued_host_goes_on(host, misbehaving, downloads):
    one = host()
    one.session(first_retry_delay_ms=50, request_timeout_ms=1_000)
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(pace=1_000_000)), downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent > 0)
    one.stop()
    time.sleep(2)
    one.signal(signal.SIGCONT)
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_few_descriptors_are_an_error_and_not_the_end(host, misbehaving, downloads):
    one = host(opened=False)
    one.limit_descriptors(6)
    with pytest.raises(Exception) as caught:
        one.open()
    assert hasattr(caught.value, "status"), caught.value
    one.limit_descriptors(4)
    with pytest.raises(Exception) as caught:
        one.open()
    assert hasattr(caught.value, "status"), caught.value


def test_nothing_is_printed(store, misbehaving, downloads):
    program = (
        "import sys, backhaul\n"
        "with backhaul.Application('org.example.quiet', sys.argv[1]) as application:\n"
        "    with application.session('s', maximum_attempts=1) as session:\n"
        "        session.download(sys.argv[2] + '/nowhere')\n"
        "        session.download('http://name.invalid/')\n"
        "        for event in session.events():\n"
        "            if event.is_session_finished: break\n"
    )
    done = subprocess.run([sys.executable, "-c", program, store, misbehaving.url], capture_output=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_ctrl_c_is_heard_while_waiting_for_events(store):
    program = (
        "import sys, backhaul\n"
        "application = backhaul.Application('org.example.interrupted', sys.argv[1])\n"
        "session = application.session('s')\n"
        "print('waiting', flush=True)\n"
        "try:\n"
        "    next(session.events())\n"
        "except KeyboardInterrupt:\n"
        "    session.close(); application.close(); sys.exit(42)\n"
    )
    process = child.start([sys.executable, "-c", program, store], stdout=subprocess.PIPE)
    with process.stdout:
        assert process.stdout.readline() == b"waiting\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 42


def test_threads_of_one_host_use_one_session_at_once(store, misbehaving, downloads):
    import backhaul

    failures = []

    def work(number):
        try:
            for i in range(25):
                name = f"{number}-{i}"
                session.download(misbehaving.serve(f"/{name}", Content(100, i)), downloads / name, key=name)
                list(session.tasks())
        except Exception as error:  # told below, in the test's own thread
            failures.append(error)

    with backhaul.Application("org.example.threads", store) as application:
        with application.session("s") as session:
            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert failures == []
            ended = set()
            for event in session.events(timeout=30):
                ended |= {event.key} - {None}
                if len(ended) == 200:
                    break
            assert len(os.listdir(downloads)) == 200


def test_closing_in_any_order_and_twice_is_harmless(store, misbehaving):
    import backhaul

    application = backhaul.Application("org.example.order", store)
    session = application.session("s")
    ticket = session.start.configuration()
    application.close()
    session.close()
    application.close()
    session.close()
    for use in (session.configuration, application.sessions, ticket.result, session.fileno):
        with pytest.raises(backhaul.InvalidHandle):
            use()


def test_a_session_closed_by_another_thread_ends_the_wait(store):
    import backhaul

    with backhaul.Application("org.example.close", store) as application:
        session = application.session("s")
        timer = threading.Timer(0.3, session.close)
        timer.start()
        with pytest.raises(backhaul.InvalidHandle):
            next(session.events())
        timer.join()


def test_roles_end_with_the_handle(host):
    one, other = host(), host()
    one.session()
    one.close()
    other.attach()
    with pytest.raises(NotFound):
        other.attach("unknown", role=Role.OBSERVE)
    assert until(other.all_sessions, lambda infos: infos[0].consumer == other.pid)
