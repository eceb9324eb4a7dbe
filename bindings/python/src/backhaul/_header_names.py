"""Every constant of this package under its name in include/backhaul.h, to compare them with those of the library."""

from __future__ import annotations

from enum import IntEnum, IntFlag

from . import _numbers
from ._constants import (
    Attention,
    BodySource,
    ChallengeKind,
    Choice,
    ConditionKind,
    Connectivity,
    Cookies,
    Disposition,
    Domain,
    EventKind,
    HTTPVersion,
    Hosting,
    IfExists,
    LaunchState,
    NetworkKind,
    Next,
    Preset,
    QualityOfService,
    Reason,
    Redirects,
    Refresh,
    ResponseKind,
    RetryErrors,
    Role,
    Scheme,
    SessionDisposition,
    Status,
    TLSVersion,
    TaskKind,
    TaskState,
    ThermalState,
    Tolerances,
)

_PREFIXES: tuple[tuple[str, type[IntEnum] | type[IntFlag]], ...] = (
    ("BH_", Status),
    ("BH_", Choice),
    ("BH_DOMAIN_", Domain),
    ("BH_HOSTING_", Hosting),
    ("BH_LAUNCH_", LaunchState),
    ("BH_ROLE_", Role),
    ("BH_SESSION_", SessionDisposition),
    ("BH_ATTENTION_", Attention),
    ("BH_IF_EXISTS_", IfExists),
    ("BH_ENQUEUE_", Disposition),
    ("BH_EVENT_", EventKind),
    ("BH_CHALLENGE_", ChallengeKind),
    ("BH_SCHEME_", Scheme),
    ("BH_RESPOND_", ResponseKind),
    ("BH_TASK_KIND_", TaskKind),
    ("BH_TASK_", TaskState),
    ("BH_REASON_", Reason),
    ("BH_BODY_", BodySource),
    ("BH_REFRESH_", Refresh),
    ("BH_HTTP_", HTTPVersion),
    ("BH_REDIRECTS_", Redirects),
    ("BH_RETRY_", RetryErrors),
    ("BH_TOLERATE_", Tolerances),
    ("BH_COOKIES_", Cookies),
    ("BH_", TLSVersion),
    ("BH_NEXT_", Next),
    ("BH_PRESET_", Preset),
    ("BH_THERMAL_", ThermalState),
    ("BH_NETWORK_", NetworkKind),
    ("BH_CONDITION_", ConditionKind),
    ("BH_CONNECTIVITY_", Connectivity),
    ("BH_QUALITY_", QualityOfService),
)


def _name(prefix: str, member: IntEnum | IntFlag) -> str:
    # A name cannot begin with a digit, so these members repeat what the prefix says: BH_HTTP_1_1.
    return prefix + str(member.name).removeprefix("HTTP_" if prefix == "BH_HTTP_" else "")


def by_header_name() -> dict[str, int]:
    """Such as ``BH_ROLE_CONSUME``."""
    names = {_name(prefix, member): int(member) for prefix, kind in _PREFIXES for member in kind}
    plain = {"BH_" + name: value for name, value in vars(_numbers).items() if name.isupper()}
    return {**names, **plain}
