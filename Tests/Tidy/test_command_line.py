"""The command line has an option for every field of a session, a policy and a request, and shows the session's."""

import re

import pytest

from tree import header, swift

COMMAND = "Sources/backhaul"
WORDS = "Sources/backhaul/Library/OptionWords.swift"
NAMES = "Sources/backhaul/Library/Names.swift"
RECORDS = ("ConfigurationRecord.swift", "ConstraintsRecord.swift", "SessionOptions.swift")
#: A line of the tables of options: the field's name in the record, and the path of the field.
SETTING = re.compile(r'\.\w+\(\s*"(\w+)", \\\.([\w.]+), ')

#: Struct -> what its variables are called where options are written into it.
VARIABLES = {
    "bh_session_configuration": "session|configuration|fields",
    "bh_policy": "policy|fields",
    "bh_request": "request",
}

#: Fields that no option sets, and why.
WITHOUT_OPTION = {
    "bh_session_configuration.launch_if_stopped_ms": "a program that is launched makes its sessions itself",
    "bh_session_configuration.sends_launch_events": "a program that is launched makes its sessions itself",
    "bh_request.mode": "the umask of the shell says it",
    "bh_request.user_data": "for the memory of a program; a person has --group",
    "bh_request.user_data_size": "as user_data",
}

#: Fields that the record of a session does not have under their name, and why.
NOT_SHOWN = {
    "headers": "they may hold secrets: `header_names` has their names",
    "header_count": "as headers",
    "proxy.password": "a secret",
}

#: Fields of embedded structs -> their keys in the record, which is flat.
FLAT = {
    "retry.first_delay_ms": "first_retry_delay_ms", "retry.longest_delay_ms": "longest_retry_delay_ms",
    "retry.jitter_percent": "retry_jitter_percent", "retry.errors": "retry_errors",
    "retry.unsafe_methods": "retries_unsafe_methods", "retry.statuses": "retry_statuses",
    "tls.minimum_version": "minimum_tls", "proxy.url": "proxy", "proxy.user": "proxy_user",
    "proxy.bypass": "no_proxy", "budget.daily": "daily_budget", "budget.monthly": "monthly_budget",
}

#: Constants whose word is another than their name, or that have none (None), and why.
OTHER_WORDS = {
    "BH_HTTP_1_1": "http1.1",
    "BH_HTTP_2": "http2",
    "BH_HTTP_2_PRIOR_KNOWLEDGE": "http2-prior-knowledge",
    "BH_PRESET_DEFAULT": "none",
    # No limit: above it nothing runs, whatever is allowed.
    "BH_THERMAL_CRITICAL": None,
    # The absence of a choice, which has no word.
    "BH_THERMAL_DEFAULT": None, "BH_REDIRECTS_DEFAULT": None, "BH_COOKIES_DEFAULT": None, "BH_QUALITY_DEFAULT": None,
    "BH_TASK_NONE": None, "BH_TASK_KIND_NONE": None,
}

#: What the messages of the library have that is no field.
PHRASES = {"choose embedded hosting", "the option `store`", "the option `daemon`"}


def text():
    return "\n".join(source.text for source in swift(COMMAND))


def fields(name):
    """Those of embedded structs with their path: `retry.first_delay_ms`."""
    structs = {struct.name: struct for struct in header().structs}
    for field in structs[name].fields:
        if field.type in structs:
            yield from (f"{field.name}.{inner}" for inner in fields(field.type))
        elif field.name != "struct_size" and not field.name.startswith("reserved"):
            yield field.name


@pytest.mark.parametrize("name", VARIABLES)
def test_each_field_has_an_option_or_a_reason_to_have_none(name):
    written = set(re.findall(rf"\b(?:{VARIABLES[name]})\.(\w+(?:\.\w+)?) = ", text()))
    written |= {path for _, path in SETTING.findall(text())}
    missing = {f"{name}.{field}" for field in fields(name)
               if field not in written and field.removeprefix("constraints.") not in written}
    assert missing == {field for field in WITHOUT_OPTION if field.startswith(f"{name}.")}


def test_each_field_of_a_session_is_shown():
    shown = {word for source in swift(COMMAND) if source.path.name in RECORDS
             for word in re.findall(r'\(\s*"(\w+)",', source.text)}
    assert {field for field in fields("bh_session_configuration")
            if FLAT.get(field, field.rpartition(".")[2]) not in shown} == set(NOT_SHOWN)


def test_the_words_for_fields_are_those_of_the_header():
    words = next(source for source in swift(COMMAND) if source.name == WORDS)
    known = {name for struct in header().structs for field in struct.fields
             for name in (field.name, f"retry.{field.name}")}
    known |= {constant.name for enumeration in header().enumerations for constant in enumeration.constants}
    spoken = re.findall(r'\("([^"]+)", "[^"]+"\)', words.text)
    unknown = [word for phrase in spoken if phrase not in PHRASES for word in phrase.split()
               if word not in known | {"is"}]
    assert spoken and not unknown


def test_the_words_for_constants_are_their_names():
    names = next(source for source in swift(COMMAND) if source.name == NAMES).text
    words = dict(re.findall(r'\((BH_\w+), "([^"]+)"\)', names))
    words |= {constant: word for word, constant in re.findall(r'\("([^"]+)", (BH_\w+)\)', names)}
    wrong = []
    for enumeration in header().enumerations:
        if not any(constant.name in words for constant in enumeration.constants):
            continue
        for constant in enumeration.constants:
            plain = constant.name.removeprefix(enumeration.prefix).lower()
            expected = OTHER_WORDS[constant.name] if constant.name in OTHER_WORDS else plain
            word = words.get(constant.name)
            if word not in (expected, plain.replace("_", "-") if expected == plain else expected):
                wrong.append(f"{constant.name} is {word!r} instead of {expected!r}")
    assert words and not wrong
