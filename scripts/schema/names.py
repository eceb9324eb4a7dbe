"""What the bindings call things for which the header has no name of its own, or another."""

from __future__ import annotations

from .model import Constant, Enumeration

#: Enumeration -> its class in Python; None: its constants are plain numbers there. One that has a name in the header
#: needs no line: `bh_thermal_state` is ThermalState.
PYTHON_CLASSES: dict[str, str | None] = {
    "BH_OK": "Status",
    "BH_DOMAIN_NONE": "Domain",
    "BH_DEFAULT": "Choice",
    "BH_HOSTING_DEFAULT": "Hosting",
    "BH_APPLICATION_OBSERVES": None,
    "BH_LAUNCH_NONE": "LaunchState",
    "BH_ROLE_CONSUME": "Role",
    "BH_HTTP_DEFAULT": "HTTPVersion",
    "BH_REDIRECTS_FOLLOW": "Redirects",
    "BH_RETRY_NAME": "RetryErrors",
    "BH_TOLERATE_MISSING_CLOSE_NOTIFY": "Tolerances",
    "BH_COOKIES_NONE": "Cookies",
    "BH_TLS_1_2": "TLSVersion",
    "BH_PRESET_DEFAULT": "Preset",
    "BH_THERMAL_NOMINAL": "ThermalState",
    "BH_NETWORK_ETHERNET": "NetworkKind",
    "BH_SESSION_CREATED": "SessionDisposition",
    "BH_INVALIDATE_FINISH": None,
    "BH_ATTENTION_EVENTS": "Attention",
    "BH_IF_EXISTS_FAIL": "IfExists",
    "BH_REQUEST_STARTS_SUSPENDED": None,
    "BH_BODY_REFERENCE": "BodySource",
    "BH_REFRESH_NONE": "Refresh",
    "BH_ENQUEUE_NOT_APPLIED": "Disposition",
    "BH_EVENT_TASK_ENDED": "EventKind",
    "BH_CHALLENGE_SERVER": "ChallengeKind",
    "BH_SCHEME_BASIC": "Scheme",
    "BH_TASK_KIND_DOWNLOAD": "TaskKind",
    "BH_TASK_WAITING": "TaskState",
    "BH_RESPOND_REFUSE": "ResponseKind",
    "BH_RESPONSE_KEEP": None,
    "BH_REASON_NONE": "Reason",
    "BH_NEXT_END": "Next",
    "BH_CONDITION_EXTERNAL_POWER": "ConditionKind",
    "BH_CONNECTIVITY_NONE": "Connectivity",
    "BH_QUALITY_BACKGROUND": "QualityOfService",
}

_ACRONYMS = {"http": "HTTP", "tls": "TLS"}

def python_class(enumeration: Enumeration) -> str | None:
    """The class in Python, or None when its constants are plain numbers there."""
    if enumeration.key in PYTHON_CLASSES:
        return PYTHON_CLASSES[enumeration.key]
    if enumeration.name is None:
        raise SystemExit(f"The enumeration of {enumeration.key} has no name: add a line to scripts/schema/names.py.")
    return camel_case(enumeration.name)


def camel_case(name: str) -> str:
    """`SessionInfo` of bh_session_info."""
    return "".join(_ACRONYMS.get(word, word.capitalize()) for word in name.removeprefix("bh_").split("_"))


def python_member(enumeration: Enumeration, constant: Constant) -> str:
    """`CONSUME` of BH_ROLE_CONSUME. A name cannot begin with a digit: BH_HTTP_1_1 is HTTP_1_1."""
    name = constant.name.removeprefix(enumeration.prefix)
    return f"{enumeration.prefix.split('_')[-2]}_{name}" if name[0].isdigit() else name
