"""What the bindings call things for which the header has no name of its own, or another."""

from __future__ import annotations

from .model import Constant, Enumeration

#: Enumeration -> its class in Python, where that is not the header's name in Python's form.
PYTHON_CLASSES = {
    "bh_enqueue_disposition": "Disposition",
    "bh_network_kinds": "NetworkKind",
    "bh_next_step": "Next",
    "bh_schemes": "Scheme",
}

_ACRONYMS = {"http": "HTTP", "tls": "TLS"}


def python_class(enumeration: Enumeration) -> str:
    if enumeration.name is None:
        raise SystemExit(f"The enumeration of {enumeration.key} has no name: declare it with BH_ENUM or BH_FLAGS.")
    return PYTHON_CLASSES.get(enumeration.name) or camel_case(enumeration.name)


def camel_case(name: str) -> str:
    """`SessionInfo` of bh_session_info."""
    return "".join(_ACRONYMS.get(word, word.capitalize()) for word in name.removeprefix("bh_").split("_"))


def python_member(enumeration: Enumeration, constant: Constant) -> str:
    """`CONSUME` of BH_ROLE_CONSUME. A name cannot begin with a digit: BH_HTTP_1_1 is HTTP_1_1."""
    name = constant.name.removeprefix(enumeration.prefix)
    return f"{enumeration.prefix.split('_')[-2]}_{name}" if name[0].isdigit() else name
