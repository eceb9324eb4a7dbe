"""Errors for wrong arguments of methods name the method or the argument, and no internal function."""

import math

import pytest

from backhaul import Application, Challenge, ChallengeKind, Hosting, InvalidArgument, Part, Request, Scheme, TaskState

URL = "http://127.0.0.1:9/never"
CHALLENGE = Challenge(1, ChallengeKind.SERVER, Scheme.BASIC, "http://127.0.0.1:9", None, 0, 1, 1)


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    store = tmp_path_factory.mktemp("keywords") / "store"
    with Application("org.example.keywords", store, hosting=Hosting.EMBEDDED) as one:
        yield one


@pytest.fixture(scope="module")
def session(application):
    with application.session("s") as one:
        yield one


CALLS = [
    (lambda session: session.download(URL, chekcsum="a"), "download() got an unexpected keyword argument 'chekcsum'; "
     "did you mean 'checksum'?"),
    (lambda session: session.upload(URL, bodyfile="/a"), "upload() got an unexpected keyword argument 'bodyfile'"),
    (lambda session: session.upload(URL, "/a", if_exists="replace"), "upload() got an unexpected keyword argument "
     "'if_exists'"),
    (lambda session: session.cancel(gruop="a"), "cancel() got an unexpected keyword argument 'gruop'; did you mean "
     "'group'?"),
    (lambda session: session.set_aside(x=1), "set_aside() got an unexpected keyword argument 'x'; it accepts group, "
     "states"),
    (lambda session: session.respond(CHALLENGE, pasword="a"), "respond() got an unexpected keyword argument 'pasword'; "
     "did you mean 'password'?"),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_the_error_for_an_unknown_keyword_names_the_method_and_a_similar_keyword(session, call, message):
    with pytest.raises(TypeError) as caught:
        call(session)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("form", [lambda application: application, lambda application: application.start])
def test_the_error_for_an_unknown_keyword_of_a_session_names_the_method_and_a_similar_keyword(application, form):
    with pytest.raises(TypeError) as caught:
        form(application).session("s", history_limits=3)
    assert str(caught.value) == ("session() got an unexpected keyword argument 'history_limits'; did you mean "
                                 "'history_limit'?")


MISTAKES = [
    (lambda session: session.acknowledge(5), "the events are one int; give a list"),
    (lambda session: session.acknowledge(["x"]), "'x' is no id, and has no id; give a task, an event, or an id"),
    (lambda session: session.cancel("a"), "the tasks are one str; give a list"),
    (lambda session: next(session.tasks(states=TaskState.RUNNING)), "the states are one TaskState; give a list"),
    (lambda session: session.enqueue(Request(URL)), "the requests are one Request; give a list"),
    (lambda session: session.start.enqueue(Request(URL)), "the requests are one Request; give a list"),
    (lambda session: session.enqueue([URL]), "item 0 of the requests is a str instead of a Request"),
    (lambda session: session.enqueue([], chunk=0), "the chunk is 0, which is too small"),
    (lambda session: session.upload(URL, parts=Part("a", "b")), "the parts are one Part; give a list"),
    (lambda session: session.upload(URL, parts=[{"a": "b"}]), "item 0 of the parts is a dict instead of a Part"),
    (lambda session: session.download(URL, policy=3), "the policy is a int instead of a Policy"),
    (lambda session: session.upload(URL, b"bytes"), "the body_file is bytes; give the path of a file, or give the "
     "bytes as body"),
    (lambda session: session.download(URL, headers=["A: b"]), "the headers are not pairs of a name and a value; give a "
     "dict, or a list of pairs"),
    (lambda session: session.download(URL, headers="A: b"), 'the headers are one str; give a dict, such as {"Accept": '
     '"image/png"}'),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_the_error_for_a_wrong_argument_says_what_to_give(session, call, message):
    with pytest.raises(InvalidArgument) as caught:
        call(session)
    assert str(caught.value) == message


WAITS = [
    lambda application, session, timeout: session.tasks(timeout=timeout).__next__(),
    lambda application, session, timeout: session.start.tasks().result(timeout),
    lambda application, session, timeout: session.events(timeout=timeout),
    lambda application, session, timeout: session.poll(timeout=timeout),
    lambda application, session, timeout: session.progress(timeout=timeout),
    lambda application, session, timeout: session.poll_progress(timeout=timeout),
    lambda application, session, timeout: application.attention(timeout=timeout),
    lambda application, session, timeout: application.poll(timeout=timeout),
]


@pytest.mark.parametrize("call", WAITS)
@pytest.mark.parametrize("timeout", [math.nan, -1, -0.5, True, "1"])
def test_a_wrong_timeout_raises_an_error_that_says_what_to_give(application, session, call, timeout):
    with pytest.raises(InvalidArgument) as caught:
        call(application, session, timeout)
    assert str(caught.value) == f"the timeout is {timeout!r}; give seconds from 0 on, or None"


def test_an_infinite_timeout_is_a_wait_without_a_limit(session):
    assert list(session.tasks(timeout=math.inf)) == []


@pytest.mark.parametrize("interval", [math.nan, -1, True, "1"])
def test_a_wrong_interval_of_progress_raises_an_error(session, interval):
    with pytest.raises(InvalidArgument, match="interval"):
        next(session.progress(interval))
