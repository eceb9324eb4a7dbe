"""The names in the bindings: names that differ from the header's names, and names that the header does not have."""

from __future__ import annotations

from collections.abc import Mapping

from .model import Constant, Enumeration, Field, Struct

#: Enumeration -> its class in Python. The names of the other classes are derived from the header's names.
PYTHON_CLASSES = {
    "bh_enqueue_disposition": "Disposition",
    "bh_network_kinds": "NetworkKind",
    "bh_next_step": "Next",
    "bh_schemes": "Scheme",
}

#: Struct that a program fills -> its type in Python and Swift. The names of the other types are derived from the
#: header's names.
VALUES = {
    "bh_proxy_settings": "Proxy",
    "bh_tls_settings": "TLS",
}

#: The parts of a configuration. A part comes before the parts that contain it.
PYTHON_PARTS = [
    "bh_retry_policy", "bh_transfer_rules", "bh_constraints", "bh_tls_settings", "bh_proxy_settings", "bh_budget",
    "bh_policy",
]

#: The structs whose fields accept words in place of constants.
PYTHON_SPOKEN = [*PYTHON_PARTS, "bh_session_configuration", "bh_request", "bh_activity", "bh_dependency"]

#: Type -> its zero in Python. For these types zero is a value, so Python needs no None.
PYTHON_ZEROS = {
    "bh_http_version": "HTTPVersion.DEFAULT",
    "bh_tolerances": "Tolerances(0)",
}

#: Enumeration -> its type in Swift. The names of the other types are derived from the header's names.
SWIFT_TYPES = {
    "bh_body_source": "Body.Source",
    "bh_cookies": "CookiePolicy",
    "bh_dependency_failure": "Dependency.Failure",
    "bh_if_exists": "ExistsPolicy",
    "bh_quality_of_service": "Activity.QualityOfService",
    "bh_redirects": "RedirectPolicy",
}

#: Constant -> its case in Swift. The names of the other cases are derived from the header's names. No case is called
#: `none`: for an optional, Swift reads `.none` as nil.
SWIFT_MEMBERS = {
    "BH_CONNECTIVITY_NONE": "noRoute",
    "BH_COOKIES_NONE": "never",
    "BH_DOMAIN_NONE": "noDetail",
    "BH_LAUNCH_NONE": "notNeeded",
    "BH_REDIRECTS_NONE": "never",
}

#: Field -> its property in Swift. The names of the other properties are derived from the header's names.
SWIFT_PROPERTIES = {
    "discretionary_if_launched": "isDiscretionaryIfLaunched",
}

#: Constant -> its word in texts for persons and in JSON. The words of the other constants are derived from the header's
#: names. These words are options of curl.
WORDS = {
    "BH_HTTP_1_1": "http1.1",
    "BH_HTTP_2": "http2",
    "BH_HTTP_2_PRIOR_KNOWLEDGE": "http2-prior-knowledge",
    "BH_TLS_1_2": "tlsv1.2",
    "BH_TLS_1_3": "tlsv1.3",
}

#: Secret fields. A text that describes a value does not show them.
SECRETS = {"headers", "password"}

_ACRONYMS = {"cpu": "CPU", "http": "HTTP", "io": "IO", "tls": "TLS"}


def python_class(enumeration: Enumeration) -> str:
    if enumeration.name is None:
        raise SystemExit(f"The enumeration of {enumeration.key} has no name: declare it with BH_ENUM or BH_FLAGS.")
    return PYTHON_CLASSES.get(enumeration.name) or camel_case(enumeration.name)


def camel_case(name: str) -> str:
    """Returns the name of a type, such as `SessionInfo` for bh_session_info."""
    return "".join(_ACRONYMS.get(word, word.capitalize()) for word in name.removeprefix("bh_").split("_"))


def python_member(enumeration: Enumeration, constant: Constant) -> str:
    """Returns the name of a member, such as `CONSUME` for BH_ROLE_CONSUME. A name cannot begin with a digit, so the
    name for BH_HTTP_1_1 is `HTTP_1_1`."""
    name = constant.name.removeprefix(enumeration.prefix)
    return f"{enumeration.prefix.split('_')[-2]}_{name}" if name[0].isdigit() else name


def python_words(enumeration: Enumeration) -> list[str]:
    """Returns the words that a program can give in place of a member. The default has no word."""
    members = (python_member(enumeration, constant).lower() for constant in enumeration.constants)
    return [member for member in members if member != "default"]


def is_spoken(enumeration: Enumeration) -> bool:
    """Whether Python accepts a word in place of a constant. Bits accept no words, because bits are combined. Versions
    accept no words, because versions are numbers."""
    return (
        enumeration.name != "bh_choice" and not enumeration.is_bits
        and not any(constant.name[-1].isdigit() for constant in enumeration.constants)
    )


def word(enumeration: Enumeration, constant: Constant) -> str:
    """Returns the text of a constant, such as `running` for BH_TASK_RUNNING. The text of a status is its whole name."""
    if enumeration.name == "bh_status":
        return constant.name
    return WORDS.get(constant.name) or constant.name.removeprefix(enumeration.prefix).lower()


def options(struct: Struct) -> list[Field]:
    """Returns the fields with a meaning. The struct's size, reserved fields and the counts of arrays are left out.
    """
    arrays = {field.name for field in struct.fields}
    return [
        field for field in struct.fields
        if field.name != "struct_size" and not field.name.startswith("reserved")
        and not (field.name.endswith("_count") and field.name.removesuffix("_count") + "s" in arrays)
    ]


def documentation_of(type_name: str, enumerations: Mapping[str | None, Enumeration]) -> str:
    """Returns the documentation of a field that has no comment in the header. This documentation states what the
    field's enumeration is, and what 0 stands for."""
    enumeration = enumerations.get(type_name)
    if enumeration is None or type_name == "bh_choice":
        return ""
    sentence = enumeration.documentation.partition(". ")[0].removesuffix(".")
    default = next((constant.documentation for constant in enumeration.constants if constant.value == 0), "")
    return f"{sentence}. Default: {default}" if default else f"{sentence}."


def value(struct: str) -> str:
    """Returns the name of the type for a struct that a program fills, such as `RetryPolicy` for bh_retry_policy."""
    return VALUES.get(struct) or camel_case(struct)


def swift_type(enumeration: str) -> str:
    return SWIFT_TYPES.get(enumeration) or camel_case(enumeration)


def swift_property(field: str) -> str:
    """Returns the name of a property, such as `slowPause` for slow_pause_ms. A Duration contains its unit, so the name
    has no unit."""
    if field in SWIFT_PROPERTIES:
        return SWIFT_PROPERTIES[field]
    first, *rest = field.removesuffix("_ms").split("_")
    return first + "".join(_ACRONYMS.get(word, word.capitalize()) for word in rest)


def swift_member(enumeration: Enumeration, constant: Constant) -> str:
    """Returns the name of a case, such as `sameOrigin` for BH_REDIRECTS_SAME_ORIGIN."""
    if constant.name in SWIFT_MEMBERS:
        return SWIFT_MEMBERS[constant.name]
    first, *rest = python_member(enumeration, constant).lower().split("_")
    name = first + "".join(f"_{word}" if word.isdigit() else word.capitalize() for word in rest)
    # Only the numbers of a version have an underscore between them: `http2`, `tls1_2`.
    return name.replace("_", "", 1)
