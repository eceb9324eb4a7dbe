"""Attempts (runs of tasks), and their measurements."""

from __future__ import annotations

from dataclasses import dataclass

from ._constants import Domain, Next, Status
from ._errors import BackhaulError, error_for
from ._types import OptionalTime, Time


@dataclass(frozen=True)
class Attempt:
    """One attempt: one run of a task, with all redirects of this run.

    After a redirect, all times are those of the last request. A field whose name ends in ``_us`` is the time of a step,
    in microseconds since ``started_ms``. Such a field is None if the attempt did not reach the step. It is also None if
    the attempt reused a connection, and therefore did not need the step.
    """

    #: The id of the task.
    task_id: int
    #: The number of the attempt, from 1.
    number: int
    #: What followed the attempt, such as a retry.
    next: Next
    #: When the last request started, in Unix milliseconds.
    started_ms: int
    #: When the next attempt starts, in Unix milliseconds. 0 if no time is set for a next attempt.
    next_attempt_ms: int
    #: The status of the attempt's error, or OK.
    status: Status
    #: What the number in ``error_detail`` is: an errno, a CURLcode, an HTTP status…
    error_domain: Domain
    #: A number that describes the error more precisely, or 0.
    error_detail: int
    #: The message about the error, which is one sentence. None if the status is OK.
    error_message: str | None
    #: The URL of the last request; after redirects, without its query.
    url: str
    #: The status of the response, or 0 if there was no response.
    http_status: int
    #: The number of redirects that were followed.
    redirects: int
    #: The offset in the file at which the attempt began.
    offset: int
    #: How many bytes of the file were stored when the attempt ended.
    end_offset: int
    #: When the host name was resolved.
    domain_lookup_us: int | None
    #: When the TCP connection, or the tunnel of the proxy, was ready.
    connect_us: int | None
    #: When the TLS handshake was complete.
    secure_connection_us: int | None
    #: When the engine (the process that runs the tasks) began to send the request.
    request_start_us: int | None
    #: When the last byte of the request's body was sent.
    request_end_us: int | None
    #: When the first byte of the response arrived.
    response_start_us: int | None
    #: When the attempt ended.
    response_end_us: int | None
    #: The protocol of the last request: "h2" or "http/1.1".
    protocol: str | None
    #: Whether the attempt used a connection that was already open.
    reused_connection: bool
    #: Whether a proxy was used.
    proxy_connection: bool
    #: The address of this machine, or None if there was no connection.
    local_address: str | None
    #: The port of this machine, or 0.
    local_port: int
    #: The address of the server or proxy, or None if there was no connection.
    remote_address: str | None
    #: The port of the server or proxy, or 0.
    remote_port: int
    #: The version of TLS, such as "TLSv1.3".
    tls_version: str | None
    #: The cipher suite of TLS, such as "TLS_AES_256_GCM_SHA384".
    tls_cipher: str | None
    #: The sent bytes of headers.
    request_header_bytes: int
    #: The sent bytes of the body.
    request_body_bytes: int
    #: The received bytes of headers.
    response_header_bytes: int
    #: The received bytes of the body.
    response_body_bytes: int

    #: When the last request started.
    started = Time()
    #: When the next attempt starts. None if no time is set for a next attempt.
    next_attempt = OptionalTime()

    @property
    def error(self) -> BackhaulError | None:
        """The error of the attempt as an exception, which a program can raise or show. None if the status is OK."""
        if self.status is Status.OK:
            return None
        return error_for(self.status, self.error_message or "", domain=self.error_domain, detail=self.error_detail)
