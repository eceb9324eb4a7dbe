"""If an HTTP/2 server refuses a request, the server has not processed the request. So the engine sends the request
again at once."""

import pytest

from backhaul import TaskState

from transport.conftest import QUICK
from transport.refusing import RefusingServer


def test_a_refused_download_is_requested_again(fetch, authority):
    with RefusingServer(authority.context(), refusals=3) as server:
        event = fetch(server.url + "/a", ca_file=authority.file)
        assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 1)
        assert server.requests == [("GET", b"")]


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_refused_request_with_a_body_is_sent_again_for_any_method(host, authority, method):
    with RefusingServer(authority.context(), refusals=2) as server:
        one = host()
        one.session(ca_file=authority.file, maximum_attempts=1, **QUICK)
        one.upload(server.url + "/a", body=b"all of it", method=method)
        [event] = [event for event in one.wait_for() if event.task_id]
        assert (event.state, event.response_body) == (TaskState.SUCCEEDED, method.encode() + b" all of it")
        assert server.requests == [(method, b"all of it")]
