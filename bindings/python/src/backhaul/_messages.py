"""Replaces names of C by names of this package, in messages of the library."""

from __future__ import annotations

import functools
import re

from . import _numbers
from ._constants import PREFIXES
from ._header_names import header_name

#: Names of the header -> the names of this package, if they differ.
_FIELDS = {
    "BH_REQUEST_IF_CHANGED": "if_changed",
    "BH_REQUEST_IGNORES_DIGESTS": "ignores_digests",
    "BH_REQUEST_NAMED_BY_SERVER": "named_by_server",
    "BH_REQUEST_STARTS_SUSPENDED": "suspended",
    "BH_RESPOND_AND_KEEP": "keep",
    "NULL": "None",
    "activity.identifier": "identifier",
    "configuration.identifier": "identifier",
    "earliest_start_ms": "earliest_start",
    "expires_ms": "expires",
    "first_ms": "first",
    "idempotency_key": "key",
    "latest_start_ms": "latest_start",
    "options.daemon": "daemon",
    "options.identifier": "identifier",
    "options.store": "store",
    "response.expires_ms": "expires",
    "response.headers": "headers",
    "response.password": "password",
    "response.url": "url",
    "response.user": "user",
    "timeout_ms": "timeout",
}
_CONSTANT = re.compile(r"\bBH_[A-Z0-9_]*[A-Z0-9]\b")
#: `BH_ROLE_…` means any constant of a family.
_FAMILY = re.compile(r"(?:one of )?\b(BH_[A-Z0-9_]*_)…")
_NAME = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, _FIELDS))})(?![\w/])")


@functools.cache
def _constants() -> dict[str, str]:
    members = {
        header_name(prefix, str(member.name)): f"{kind.__name__}.{member.name}"
        for prefix, kind in PREFIXES
        for member in kind
    }
    return {**members, **{"BH_" + name: name for name in vars(_numbers) if name.isupper()}}


@functools.lru_cache(maxsize=1_000)
def in_python(message: str) -> str:
    """Returns the message with the names of this package. Many tasks may have the same message, so results are kept."""
    families = {prefix: kind.__name__ for prefix, kind in PREFIXES}
    text = _FAMILY.sub(lambda match: f"a member of {families.get(match[1], match[1])}", message)
    text = _NAME.sub(lambda match: _FIELDS[match[0]], text)
    return _CONSTANT.sub(lambda match: _constants().get(match[0], match[0]), text)
