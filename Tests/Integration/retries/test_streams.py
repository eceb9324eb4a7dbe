"""HTTP/2 streams that the server has not processed. A request of a refused stream is sent again in the same attempt."""

import pytest

from backhaul import Policy, RetryPolicy, Status, TaskState
from retries.streams import RefusingServer


# libcurl does not distinguish a GOAWAY from other ends of a connection. So if a request was sent before the GOAWAY, it
# is sent again only if it is idempotent. Therefore, these tests have no POST with a GOAWAY.
@pytest.mark.parametrize("goes_away, method", [(False, "GET"), (False, "POST"), (True, "GET")],
                         ids=["REFUSED_STREAM-GET", "REFUSED_STREAM-POST", "GOAWAY-GET"])
def test_the_request_of_a_refused_stream_is_sent_again_at_once_in_the_same_attempt(
        host, certificates, downloads, goes_away, method):
    with RefusingServer(certificates, 3, goes_away=goes_away) as server:
        one = host()
        # Only one attempt is allowed, and a retry would wait for an hour. So the download can succeed only if the first
        # attempt sends the request again.
        one.session(ca_file=str(certificates.authority), maximum_attempts=1, first_delay_ms=3_600_000,
                    longest_delay_ms=3_600_000)
        one.download(server.url + "/a", downloads / "a", method=method)
        ended = one.wait_for()[0]
        assert (ended.state, ended.http_status) == (TaskState.SUCCEEDED, 200)
        assert (downloads / "a").read_bytes() == b"here\n"
        assert (server.refused, server.accepted_streams) == (3, 1)


def test_an_attempt_ends_if_the_server_refuses_all_its_streams(host, certificates, downloads):
    with RefusingServer(certificates, 1_000) as server:
        one = host()
        one.session(ca_file=str(certificates.authority))
        one.download(server.url + "/a", downloads / "a",
                     policy=Policy(retry=RetryPolicy(maximum_attempts=2, first_delay_ms=1, longest_delay_ms=1)))
        ended = one.wait_for()[0]
        assert ended.status == Status.CONNECTION_LOST
        assert server.refused <= 100
