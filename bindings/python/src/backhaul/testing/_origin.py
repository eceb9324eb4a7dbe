"""The scripted HTTP server of a testbed."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._library import RawRequest, content_of, count, kit, text_of

if TYPE_CHECKING:
    from ._testbed import Testbed


_LONGEST_FIELDS = 4096


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

    def __init__(self, handle: ctypes.c_void_p, testbed: Testbed, size: int) -> None:
        self._own, self._testbed, self._size = handle, testbed, size

    @property
    def _handle(self) -> ctypes.c_void_p:
        self._testbed._check_open()
        return self._own

    @property
    def url(self) -> str:
        """The resource's URL."""
        url: bytes = kit.bht_url(self._handle)
        return url.decode()

    def replace(self, content: bytes) -> None:
        """Replaces the content. The resource gets a new entity tag and a later date."""
        content = content_of(content)
        kit.bht_replace(self._handle, content, len(content))
        self._size = len(content)

    def require(self, user: str | None, password: str | None = None) -> None:
        """From now on, requests need this credential. Others get the status 401. The user has no colon. None: no
        credential."""
        user = None if user is None else text_of("the user", user, ":")
        password = text_of("the password", password or "")
        kit.bht_require(self._handle, None if user is None else user.encode(), password.encode())

    def _place(self, at: int, last: int) -> int:
        """A place in the content. A fault beyond the content would have no effect, and the test would pass."""
        if count(at) >= self._size + last:
            raise ValueError(f"the content has {self._size} bytes; byte {at} is beyond it")
        return at

    def drop(self, at: int) -> None:
        """The connection is closed when the response has come to this byte of the content, counted from 0, or to
        its end."""
        kit.bht_drop(self._handle, self._place(at, 1))

    def stall(self, at: int) -> None:
        """The response stops before this byte of the content, or before its end, until ``release``."""
        kit.bht_stall(self._handle, self._place(at, 1))

    def release(self) -> None:
        """Continues all stalled responses, and removes the stalls that have not begun."""
        kit.bht_release(self._handle)

    def corrupt(self, at: int) -> None:
        """The response has another byte at this place. Its length and its entity tag are unchanged."""
        kit.bht_corrupt(self._handle, self._place(at, 0))

    def refuse(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        """The response has this status, from 200 to 599, and no content: ``refuse(503, {"Retry-After": "7200"})``."""
        if not 200 <= status <= 599:
            raise ValueError(f"{status} is not the status of a response; give 200 to 599")
        fields = "".join(
            text_of("the name", name, ": \t\r\n") + ": " + text_of("the value", value, "\r\n") + "\r\n"
            for name, value in (headers or {}).items()
        )
        if len(fields) > _LONGEST_FIELDS or "" in (headers or {}):
            raise ValueError(f"header fields have a name, and all have at most {_LONGEST_FIELDS} bytes")
        kit.bht_refuse(self._handle, status, fields.encode("latin-1"))

    def redirect(self, target: str) -> None:
        """The response is a redirect (302) to this URL or path."""
        kit.bht_redirect(self._handle, text_of("the target", target, "\r\n").encode())

    def wait_for_requests(self, number: int, timeout: float = 10) -> None:
        """Waits until the resource has got this number of requests."""
        self._testbed._wait(timeout, kit.bht_wait_for_requests, self._own, count(number))

    def wait_for_bytes(self, number: int, timeout: float = 10) -> None:
        """Waits until the origin has sent all bytes of the content before this one."""
        self._testbed._wait(timeout, kit.bht_wait_for_bytes, self._own, count(number))

    @property
    def requests(self) -> list[Request]:
        """The requests that the resource has got."""
        found: list[Request] = []
        raw: Any = RawRequest(ctypes.sizeof(RawRequest))
        while kit.bht_request_at(self._handle, len(found), ctypes.byref(raw)):
            found.append(_request(raw))
        return found
