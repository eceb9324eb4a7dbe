"""Attempts: what was measured of each request of a task."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._constants import Domain, Next, Status
from ._errors import BackhaulError, error_for
from ._types import moment, moment_or_none


@dataclass(frozen=True)
class Attempt:
    """One request of a task, redirects included. Times that end in ``_us`` are microseconds after the start; None when
    that was not reached, or not needed because a connection was used again."""

    task_id: int
    #: From 1.
    number: int
    #: What came after it.
    next: Next
    #: Unix time in milliseconds.
    started_ms: int
    #: Unix time in milliseconds, or 0.
    next_attempt_ms: int
    #: OK, or what went wrong.
    status: Status
    error_domain: Domain
    error_detail: int
    error_message: str | None
    #: Of the last request, after redirects.
    url: str
    #: 0 when no answer came.
    http_status: int
    redirects: int
    #: Of the file's byte that it began with.
    offset: int
    #: Bytes of the file that were here after it.
    end_offset: int
    #: The name was resolved.
    domain_lookup_us: int | None
    #: TCP, or the proxy's tunnel, was connected.
    connect_us: int | None
    #: TLS was agreed.
    secure_connection_us: int | None
    #: The request was about to be sent.
    request_start_us: int | None
    #: Its last body byte was sent.
    request_end_us: int | None
    #: The first byte of the answer came.
    response_start_us: int | None
    #: The end.
    response_end_us: int | None
    #: "h2" or "http/1.1".
    protocol: str | None
    #: Whether the connection was open already.
    reused_connection: bool
    #: Whether it went by way of a proxy.
    proxy_connection: bool
    local_address: str | None
    local_port: int
    #: Of the server or proxy.
    remote_address: str | None
    remote_port: int
    #: "TLSv1.3"
    tls_version: str | None
    #: "TLS_AES_256_GCM_SHA384"
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
        """What went wrong, as an exception to raise or to show."""
        if self.status is Status.OK:
            return None
        return error_for(self.status, self.error_message or "", domain=self.error_domain, detail=self.error_detail)
