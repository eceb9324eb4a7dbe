"""Each session has its own cookies. The session's configuration decides how long the cookies are stored."""

import signal
import time

import daemons
import pytest

from backhaul import Cookies, TaskState

from servers.behaviour import Behaviour
from servers.content import Content
from transport.conftest import QUICK


def sets(*cookies, status=None, **headers):
    return Behaviour(status=status, headers={"Set-Cookie": cookies[0], **headers})


def get(one, url, downloads):
    number = len(list(downloads.iterdir()))
    one.download(url, downloads / str(number))
    return next(event for event in one.wait_for() if event.task_id)


def finish(one, url, downloads):
    event = get(one, url, downloads)
    assert event.state is TaskState.SUCCEEDED, event
    one.acknowledge_through(one.page(0, 1_000)[0][-1].id)


def sent(server, path):
    return [asked.headers.get("cookie") for asked in server.log(path)]


def test_a_cookie_that_a_redirect_sets_is_sent_with_the_next_request(host, misbehaving, downloads):
    url = misbehaving.serve("/login", Content(10), [sets("id=7; Path=/", status=302, Location="/file")])
    misbehaving.serve("/file", Content(20))
    one = host()
    one.session(cookies=Cookies.MEMORY, **QUICK)
    finish(one, url, downloads)
    assert sent(misbehaving, "/file") == ["id=7"]


def test_sessions_share_no_cookies_and_a_session_has_no_cookies_by_default(host, misbehaving, downloads):
    url = misbehaving.serve("/a", Content(10), otherwise=sets("id=7"))
    one = host()
    for identifier, policy in [("first", Cookies.MEMORY), ("second", Cookies.MEMORY), ("third", None)]:
        one.session(identifier, cookies=policy, **QUICK)
        for _ in range(2):
            finish(one, url, downloads)
    assert sent(misbehaving, "/a") == [None, "id=7", None, "id=7", None, None]


@pytest.mark.both_hostings
@pytest.mark.parametrize("policy, cookie, later", [
    (Cookies.PERSISTENT, "id=7; Max-Age=1000", "id=7"),
    (Cookies.PERSISTENT, "id=7", None),
    (Cookies.MEMORY, "id=7; Max-Age=1000", None),
])
def test_the_next_engine_has_only_the_cookies_that_the_cookie_policy_stores(
        host, misbehaving, downloads, policy, cookie, later):
    url = misbehaving.serve("/a", Content(10), [sets(cookie)])
    one = host()
    one.session(cookies=policy, **QUICK)
    finish(one, url, downloads)
    finish(one, url, downloads)
    engine = one.engine().process_id
    one.close()
    one.end()
    again = host()
    again.attach()
    if again.engine().process_id == engine:
        # The test ends the engine with SIGTERM, because a kill may lose a cookie of the last half second.
        daemons.end(engine, signal.SIGTERM, time.monotonic() + 20)
    finish(again, url, downloads)
    assert sent(misbehaving, "/a") == [None, "id=7", later]


def test_a_cookie_survives_a_kill_of_the_engine_two_seconds_after_its_arrival(host, misbehaving, downloads):
    url = misbehaving.serve("/a", Content(10), [sets("id=7; Max-Age=1000")])
    slow = misbehaving.serve("/slow", Content(400_000), [Behaviour(pace=200_000)])
    one = host()
    one.session(cookies=Cookies.PERSISTENT, **QUICK)
    finish(one, url, downloads)
    # The download takes two seconds, which is enough time to save the cookies.
    finish(one, slow, downloads)
    one.kill_with_engine()
    again = host()
    again.attach()
    finish(again, url, downloads)
    assert sent(misbehaving, "/a") == [None, "id=7"]


def test_a_session_deletes_its_cookies_when_cookies_are_disabled(host, misbehaving, downloads):
    url = misbehaving.serve("/a", Content(10), [sets("id=7; Max-Age=1000")])
    one = host()
    one.session(cookies=Cookies.PERSISTENT, **QUICK)
    finish(one, url, downloads)
    given = one.configuration()
    one.set_configuration(given.__class__(**{**vars(given), "cookies": Cookies.NONE}))
    finish(one, url, downloads)
    one.set_configuration(given)
    finish(one, url, downloads)
    assert sent(misbehaving, "/a") == [None, None, None]


def test_a_request_has_8_kb_of_cookies_at_most_after_a_cookie_flood(host, misbehaving, downloads):
    flood = misbehaving.serve("/flood", Content(10), [
        sets(f"c{number}={'x' * 3_000}; Max-Age=1000") for number in range(300)])
    one = host()
    one.session(cookies=Cookies.PERSISTENT, maximum_running_tasks=8, connections_per_origin=8, **QUICK)
    for number in range(300):
        one.download(flood, downloads / f"flood {number}")
    one.wait_for()
    finish(one, misbehaving.serve("/a", Content(10)), downloads)
    # libcurl sends 8 KB of cookies at most.
    assert len(sent(misbehaving, "/a")[0]) <= 8_192


def test_a_configured_cookie_and_the_cookies_of_the_jar_are_sent_in_one_header_field(host, misbehaving, downloads):
    url = misbehaving.serve("/a", Content(10), [sets("id=7")])
    one = host()
    one.session(cookies=Cookies.MEMORY, headers=(("Cookie", "own=1"),), **QUICK)
    for _ in range(2):
        finish(one, url, downloads)
    assert sent(misbehaving, "/a") == ["own=1", "id=7; own=1"]
