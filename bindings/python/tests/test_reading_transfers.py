"""Structs for configurations, limits, attempts and groups are converted to Python objects with the right values.

A group is tasks with a common name. A refresh is a demand (a challenge) for new headers or a new URL.
"""

from ctypes import c_void_p, cast, create_string_buffer, sizeof

from backhaul import (
    TLS,
    Attempt,
    ChallengeKind,
    Cookies,
    Domain,
    EventKind,
    HTTPVersion,
    Limits,
    Next,
    Proxy,
    Redirects,
    RetryErrors,
    RetryPolicy,
    SessionConfiguration,
    Status,
    TaskKind,
    TLSVersion,
    Tolerances,
    TransferError,
    TransferRules,
    _ctypes,
    _reading,
    _reading_transfers,
    _writing_transfers,
)


def filled(struct, **fields):
    return struct(sizeof(struct), **fields)


def test_a_written_configuration_is_read_back_unchanged():
    given = SessionConfiguration(
        "s",
        retry=RetryPolicy(jitter_percent=7, errors=RetryErrors.TLS | RetryErrors.STATUS, unsafe_methods=False,
                          statuses="503"),
        rules=TransferRules(accepted_statuses="200", http_version=HTTPVersion.HTTP_1_1, redirects=Redirects.NONE,
                            maximum_redirects=3, maximum_size=4),
        tls=TLS(minimum_version=TLSVersion.TLS_1_3, client_certificate="/c", client_key="/k",
                pinned_public_keys="sha256//y"),
        proxy=Proxy(url="none", user="u", password="p", bypass="x"),
        headers=(("A", "b"), ("C", "d")), bytes_per_second=5, cookies=Cookies.MEMORY, history_limit=9,
        tolerances=Tolerances.EARLY_RESPONSE,
    )
    assert _reading_transfers._configuration(_writing_transfers.configuration(given)) == given


def test_written_limits_are_read_back_unchanged():
    assert _reading_transfers._limits(_writing_transfers.limits(Limits(1, 2, 3, 4))) == Limits(1, 2, 3, 4)


def test_a_failed_attempt_is_read():
    raw = filled(
        _ctypes.bh_attempt, task_id=3, number=2, next=2, started_ms=1_000, next_attempt_ms=3_000, status=43,
        error_domain=2, error_detail=56, error_message=b"the connection broke", url=b"https://a/x", http_status=206,
        redirects=1, offset=10, end_offset=90, domain_lookup_us=-1, connect_us=-1, secure_connection_us=-1,
        request_start_us=0, request_end_us=20, response_start_us=30, response_end_us=-1, protocol=b"h2",
        reused_connection=1, proxy_connection=0, local_address=b"::1", local_port=65_535, remote_address=b"10.0.0.1",
        remote_port=443, tls_version=b"TLSv1.3", tls_cipher=b"TLS_AES_256_GCM_SHA384", request_header_bytes=1,
        request_body_bytes=2, response_header_bytes=3, response_body_bytes=80,
    )
    attempt = _reading_transfers._attempt(raw)
    assert isinstance(attempt, Attempt)
    assert (attempt.task_id, attempt.number, attempt.next, attempt.status) == (3, 2, Next.RETRY, Status.CONNECTION_LOST)
    assert (attempt.error_domain, attempt.error_detail) == (Domain.CURL, 56)
    assert isinstance(attempt.error, TransferError) and str(attempt.error) == "the connection broke"
    assert (attempt.started.timestamp(), attempt.next_attempt.timestamp()) == (1, 3)
    assert (attempt.url, attempt.http_status, attempt.redirects) == ("https://a/x", 206, 1)
    assert (attempt.offset, attempt.end_offset) == (10, 90)
    # -1 means that the time was not measured. 0 is the start of the request.
    assert (attempt.domain_lookup_us, attempt.connect_us, attempt.secure_connection_us) == (None, None, None)
    assert (attempt.request_start_us, attempt.request_end_us, attempt.response_start_us) == (0, 20, 30)
    assert attempt.response_end_us is None
    assert (attempt.protocol, attempt.reused_connection, attempt.proxy_connection) == ("h2", True, False)
    assert (attempt.local_address, attempt.local_port) == ("::1", 65_535)
    assert (attempt.remote_address, attempt.remote_port) == ("10.0.0.1", 443)
    assert (attempt.tls_version, attempt.tls_cipher) == ("TLSv1.3", "TLS_AES_256_GCM_SHA384")
    assert (attempt.request_header_bytes, attempt.request_body_bytes) == (1, 2)
    assert (attempt.response_header_bytes, attempt.response_body_bytes) == (3, 80)


def test_a_successful_attempt_has_no_error():
    attempt = _reading_transfers._attempt(filled(_ctypes.bh_attempt, task_id=1, number=1, next=1, url=b"http://a/"))
    assert (attempt.error, attempt.protocol, attempt.next_attempt) == (None, None, None)


def test_the_event_of_a_finished_group_is_read():
    event = _reading._event(
        filled(_ctypes.bh_event, kind=4, group=b"photos", group_succeeded=3, group_failed=2, group_cancelled=1)
    )
    assert event.kind is EventKind.GROUP_FINISHED and event.is_group_finished and not event.is_task_ended
    assert (event.group, event.group_succeeded, event.group_failed, event.group_cancelled) == ("photos", 3, 2, 1)
    assert (event.task_kind, event.state) == (None, None)


def test_the_event_of_an_ended_upload_is_read():
    body = create_string_buffer(b"\0ok", 3)
    raw = filled(
        _ctypes.bh_event, kind=1, task_id=9, task_state=4, task_kind=2, bytes_sent=70, checksum=b"sha-256:ab",
        response_body=cast(body, c_void_p), response_body_size=3,
    )
    event = _reading._event(raw)
    assert (event.task_kind, event.bytes_sent, event.response_body) == (TaskKind.UPLOAD, 70, b"\0ok")
    assert (event.checksum, event.group) == ("sha-256:ab", None)


def test_a_refresh_is_read_with_its_url_but_its_repr_hides_the_url():
    challenge = _reading._challenge(
        filled(_ctypes.bh_challenge, id=1, kind=3, origin=b"https://a:443", task_id=8, url=b"https://a/?signature=1")
    )
    assert (challenge.kind, challenge.task_id, challenge.url) == (ChallengeKind.REFRESH, 8, "https://a/?signature=1")
    assert "signature" not in repr(challenge)


def test_a_task_in_the_history_is_read():
    task = _reading._task(
        filled(_ctypes.bh_task_info, id=1, state=4, kind=2, url=b"http://a/", group=b"g", body_sent=5, body_size=6,
               ended_ms=2_000, path=b"/p")
    )
    assert (task.kind, task.group, task.body_sent, task.body_size) == (TaskKind.UPLOAD, "g", 5, 6)
    assert (task.ended.timestamp(), task.path) == (2, "/p")


def test_the_progress_of_an_upload_is_the_sent_share_of_its_body():
    raw = filled(_ctypes.bh_progress, task_id=1, state=2, size=2**64 - 1, body_sent=25, body_size=100)
    assert _reading._progress(raw).fraction == 0.25
