"""The rules of the session and of the task decide whether redirects are followed."""

import pytest

from backhaul import Policy, Redirects, Status, TaskState, TransferRules

from servers.behaviour import redirect
from servers.content import Content


def test_a_redirect_that_is_not_followed_is_the_final_response(fetch, misbehaving):
    url = misbehaving.serve("/old", Content(10), [redirect("/new")] * 2)
    event = fetch(url, redirects=Redirects.NONE)
    assert (event.state, event.status, event.http_status) == (TaskState.FAILED, Status.HTTP_STATUS, 302)
    event = fetch(url, redirects=Redirects.NONE, accepted_statuses="200-399")
    assert (event.state, event.http_status) == (TaskState.SUCCEEDED, 302), event.error_message
    assert [asked.path for asked in misbehaving.log()] == ["/old", "/old"]


def test_the_same_origin_policy_follows_only_redirects_to_the_same_origin(fetch, serve, misbehaving):
    other = serve()
    inside = misbehaving.serve("/inside", Content(10), [redirect("/new")])
    outside = misbehaving.serve("/outside", Content(10), [redirect(other.url + "/a")])
    misbehaving.serve("/new", Content(20))
    assert fetch(inside, redirects=Redirects.SAME_ORIGIN).state is TaskState.SUCCEEDED
    event = fetch(outside, redirects=Redirects.SAME_ORIGIN)
    assert event.status is Status.REDIRECT_REFUSED and other.url in event.error_message
    assert other.log() == []


def test_a_task_overrides_the_redirect_policy_of_its_session(fetch, misbehaving):
    url = misbehaving.serve("/old", Content(10), [redirect("/new")])
    misbehaving.serve("/new", Content(20))
    policy = Policy(rules=TransferRules(redirects=Redirects.FOLLOW))
    event = fetch(url, redirects=Redirects.NONE, request={"policy": policy})
    assert event.state is TaskState.SUCCEEDED


@pytest.mark.parametrize("limit, status", [(3, Status.OK), (2, Status.REDIRECT_REFUSED)])
def test_the_redirect_limit_is_respected(fetch, misbehaving, limit, status):
    url = [misbehaving.serve(f"/{number}", Content(10), [redirect(f"/{number + 1}")]) for number in range(3)][0]
    misbehaving.serve("/3", Content(10))
    assert fetch(url, maximum_redirects=limit).status is status


def test_headers_of_session_and_task_are_not_sent_to_another_origin_after_a_redirect(fetch, serve, misbehaving):
    other = serve()
    url = misbehaving.serve("/old", Content(10), [redirect(other.url + "/a")])
    own = {"headers": {"x-own": "task"}}
    event = fetch(url, headers=(("X-Own", "session"), ("X-Key", "secret")), request=own)
    assert event.state is TaskState.SUCCEEDED
    assert [(asked.headers.get("x-own"), asked.headers.get("x-key")) for asked in misbehaving.log()] == [
        ("task", "secret")]
    assert {"x-own", "x-key"}.isdisjoint(other.log()[0].headers)
