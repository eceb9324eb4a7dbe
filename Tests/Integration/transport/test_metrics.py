"""The metrics of each attempt, as hosts read them."""

import pytest

from backhaul import Proxy, Status

from servers.behaviour import Behaviour, redirect
from servers.content import Content
from servers.proxies import Squid
from transport.conftest import QUICK


def run(one, url, path):
    """Returns the attempts of one download."""
    task = one.download(url, path)
    one.wait_for()
    found = one.attempts(task)
    one.acknowledge_through(one.page(0, 1_000)[0][-1].id)
    return found


def phases(attempt):
    return [attempt.domain_lookup_us, attempt.connect_us, attempt.secure_connection_us, attempt.request_start_us,
            attempt.request_end_us, attempt.response_start_us, attempt.response_end_us]


@pytest.mark.both_hostings
def test_the_metrics_show_whether_a_connection_is_new_or_reused(host, nginx, served, certificates, downloads):
    one = host()
    one.session(ca_file=certificates.authority, **QUICK)
    url, size = f"{nginx.tls_url}/{served.names[7]}", (served.folder / served.names[7]).stat().st_size
    [first] = run(one, url, downloads / "1")
    [second] = run(one, url, downloads / "2")
    assert None not in phases(first) and phases(first) == sorted(phases(first))
    assert (first.protocol, first.reused_connection, first.proxy_connection) == ("h2", False, False)
    assert (first.remote_address, first.remote_port, first.local_address) == (
        "127.0.0.1", nginx.tls_port, "127.0.0.1")
    assert first.tls_version == "TLSv1.2" and first.tls_cipher.startswith("ECDHE-")
    assert (first.response_body_bytes, first.request_body_bytes) == (size, 0)
    assert first.request_header_bytes > 0 and first.response_header_bytes > 0
    assert (second.reused_connection, second.local_port) == (True, first.local_port)
    assert phases(second)[:3] == [None] * 3 and None not in phases(second)[3:]
    assert second.tls_version == first.tls_version


def test_every_attempt_has_its_own_metrics(host, misbehaving, downloads):
    content = Content(3_000_000)
    url = misbehaving.serve("/a", content, [Behaviour(status=503), Behaviour(drop_after=2_000_000)])
    one = host()
    one.session(**QUICK)
    found = run(one, url, downloads / "a")
    assert [attempt.status for attempt in found] == [Status.HTTP_STATUS, Status.CONNECTION_LOST, Status.OK]
    assert [attempt.http_status for attempt in found] == [503, 200, 206]
    assert found[1].response_body_bytes >= 1_000_000
    assert found[2].response_body_bytes == content.size - found[2].offset
    assert all(attempt.protocol == "http/1.1" and attempt.tls_version is None for attempt in found)


def test_a_redirected_download_has_the_metrics_of_its_last_request(host, misbehaving, downloads):
    url = misbehaving.serve("/old", Content(10), [redirect("/new")])
    new = misbehaving.serve("/new", Content(20))
    one = host()
    one.session(**QUICK)
    [attempt] = run(one, url, downloads / "a")
    assert (attempt.url, attempt.redirects, attempt.response_body_bytes) == (new, 1, 20)


def test_the_metrics_show_that_a_download_used_a_proxy(host, misbehaving, downloads, tmp_path_factory):
    with Squid(tmp_path_factory.mktemp("squid")) as squid:
        one = host()
        one.session(proxy=Proxy(url=squid.url), **QUICK)
        [attempt] = run(one, misbehaving.serve("/a", Content(20)), downloads / "a")
        assert attempt.proxy_connection and attempt.remote_port == squid.port


def test_the_metrics_of_a_refused_connection_have_no_times_of_a_request(host, downloads):
    one = host()
    one.session(maximum_attempts=1, **QUICK)
    [attempt] = run(one, "http://127.0.0.1:1/a", downloads / "a")
    assert (attempt.status, attempt.reused_connection, attempt.protocol) == (Status.CONNECTION_FAILED, False, None)
    assert phases(attempt)[3:] == [None] * 4
