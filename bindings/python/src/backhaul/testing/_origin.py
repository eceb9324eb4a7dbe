"""The scripted HTTP server of a testbed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ._library import RawRequest, call, count, kit, milliseconds


@dataclass(frozen=True)
class Request:
    """A request that the origin got."""

    #: Such as ``GET``.
    method: str
    #: The header fields. Their names are in small letters.
    headers: Mapping[str, str]
    #: The first byte that the request asks for. 0 without a ``Range``.
    offset: int
    #: The status of the response.
    status: int
    #: The body of an upload.
    body: bytes


def _request(raw: RawRequest) -> Request:
    lines = raw.head.decode("latin-1").split("\r\n")[1:]
    headers = {name.lower(): value.strip() for name, mark, value in (line.partition(":") for line in lines) if mark}
    body = ctypes.string_at(raw.body, raw.body_size) if raw.body else b""
    return Request(raw.method.decode(), headers, raw.offset, raw.status, body)


class Resource:
    """What the origin has at one path. It answers requests with its content, with ranges, a strong entity tag and a
    date. ``drop``, ``stall``, ``corrupt``, ``refuse`` and ``redirect`` change one response each, in the order of the
    calls."""

    def __init__(self, handle: ctypes.c_void_p, testbed: Callable[[], ctypes.c_void_p]) -> None:
        self._own, self._testbed = handle, testbed

    @property
    def _handle(self) -> ctypes.c_void_p:
        self._testbed()  # raises an exception if the testbed is closed
        return self._own

    @property
    def url(self) -> str:
        """The resource's URL."""
        url: bytes = kit.bht_url(self._handle)
        return url.decode()

    def replace(self, content: bytes) -> None:
        """Replaces the content. The resource gets a new entity tag and a later date."""
        kit.bht_replace(self._handle, content, len(content))

    def require(self, user: str | None, password: str = "") -> None:
        """From now on, requests need this credential. Others get the status 401. None: no credential."""
        kit.bht_require(self._handle, None if user is None else user.encode(), password.encode())

    def drop(self, at: int) -> None:
        """The connection is closed when the response has come to this byte of the content, counted from 0."""
        kit.bht_drop(self._handle, count(at))

    def stall(self, at: int) -> None:
        """The response stops before this byte of the content, until ``release``."""
        kit.bht_stall(self._handle, count(at))

    def release(self) -> None:
        """Continues all stalled responses, and removes the stalls that have not begun."""
        kit.bht_release(self._handle)

    def corrupt(self, at: int) -> None:
        """The response has another byte at this place. Its length and its entity tag are unchanged."""
        kit.bht_corrupt(self._handle, count(at))

    def refuse(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        """The response has this status and no content: ``refuse(503, {"Retry-After": "7200"})``."""
        fields = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        kit.bht_refuse(self._handle, status, fields.encode("latin-1"))

    def redirect(self, target: str) -> None:
        """The response is a redirect (302) to this URL or path."""
        kit.bht_redirect(self._handle, target.encode())

    def wait_for_requests(self, number: int, timeout: float = 10) -> None:
        """Waits until the resource has got this number of requests."""
        call(kit.bht_wait_for_requests, self._handle, count(number), milliseconds(timeout))

    def wait_for_bytes(self, number: int, timeout: float = 10) -> None:
        """Waits until the origin has sent all bytes of the content before this one."""
        call(kit.bht_wait_for_bytes, self._handle, count(number), milliseconds(timeout))

    @property
    def requests(self) -> list[Request]:
        """The requests that the resource has got."""
        found: list[Request] = []
        raw: Any = RawRequest(ctypes.sizeof(RawRequest))
        while kit.bht_request_at(self._handle, len(found), ctypes.byref(raw)):
            found.append(_request(raw))
        return found
