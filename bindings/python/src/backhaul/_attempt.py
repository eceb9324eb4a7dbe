"""Attempts: the metrics of each request of a task."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._constants import Domain, Next, Status
from ._errors import BackhaulError, error_for
from ._types import moment, moment_or_none


@dataclass(frozen=True)
class Attempt:
    """One attempt of a task, including its redirects.

    Times that end in ``_us`` are microseconds after the start. A time is None if the step was not reached, or not
    needed because a connection was reused.
    """

    task_id: int
    #: The number of the attempt, from 1.
    number: int
    #: What followed the attempt.
    next: Next
    #: The start in Unix milliseconds.
    started_ms: int
    #: The time of the next attempt in Unix milliseconds, or 0.
    next_attempt_ms: int
    #: OK, or the status of the error.
    status: Status
    error_domain: Domain
    error_detail: int
    error_message: str | None
    #: The URL of the last request, after redirects.
    url: str
    #: 0 without a response.
    http_status: int
    redirects: int
    #: The offset in the file at which the attempt began.
    offset: int
    #: The number of the file's bytes that were stored after it.
    end_offset: int
    #: The name was resolved.
    domain_lookup_us: int | None
    #: TCP, or the proxy's tunnel, was connected.
    connect_us: int | None
    #: The TLS handshake was complete.
    secure_connection_us: int | None
    #: The request was about to be sent.
    request_start_us: int | None
    #: The last byte of its body was sent.
    request_end_us: int | None
    #: The first byte of the response arrived.
    response_start_us: int | None
    #: The attempt ended.
    response_end_us: int | None
    #: "h2" or "http/1.1".
    protocol: str | None
    #: Whether the connection was open before.
    reused_connection: bool
    #: Whether a proxy was used.
    proxy_connection: bool
    local_address: str | None
    local_port: int
    #: The address and port of the server or proxy.
    remote_address: str | None
    remote_port: int
    #: Such as "TLSv1.3".
    tls_version: str | None
    #: Such as "TLS_AES_256_GCM_SHA384".
    tls_cipher: str | None
    request_header_bytes: int
    request_body_bytes: int
    response_header_bytes: int
    response_body_bytes: int

    @property
    def started(self) -> datetime:
        return moment(self.started_ms)

    @property
    def next_attempt(self) -> datetime | None:
        return moment_or_none(self.next_attempt_ms)

    @property
    def error(self) -> BackhaulError | None:
        """The error as an exception to raise or to show; None for OK."""
        if self.status is Status.OK:
            return None
        return error_for(self.status, self.error_message or "", domain=self.error_domain, detail=self.error_detail)
