"""The Swift binding's enumerations and option sets are those of include/backhaul.h, and it fills and reads every field.

They are written by hand, because their documentation is Swift's own, and checked here: the compiler takes no constant
of C as the raw value of a case.
"""

import re

import pytest

from tree import header, swift

BINDING = "bindings/swift/Sources/Backhaul"
TYPE = re.compile(r"^( *)public (?:enum|struct) (\w+)(?:: ([\w, ]+))? \{$")
CASE = re.compile(r"^ *case `?(\w+)`? = (\d+)$")
MEMBER = re.compile(r"^ *public static let `?(\w+)`? = (?!Int32)\w+\((BH_\w+)\)$")

#: Type -> the enumeration of the header by its name or first constant, and the constants that are nil in Swift.
TYPES = {
    "Activity.QualityOfService": ("BH_QUALITY_BACKGROUND", ""),
    "BackhaulError.Domain": ("BH_DOMAIN_NONE", ""),
    "Body.Source": ("BH_BODY_REFERENCE", ""),
    "Challenge.Kind": ("BH_CHALLENGE_SERVER", ""),
    "Challenge.Schemes": ("BH_SCHEME_BASIC", ""),
    "Condition.Connectivity": ("BH_CONNECTIVITY_NONE", ""),
    "Condition.Kind": ("BH_CONDITION_EXTERNAL_POWER", ""),
    "CookiePolicy": ("BH_COOKIES_NONE", ""),
    "HTTPVersion": ("BH_HTTP_DEFAULT", "BH_HTTP_DEFAULT"),
    "Hosting": ("BH_HOSTING_DEFAULT", "BH_HOSTING_DEFAULT"),
    "LaunchState": ("BH_LAUNCH_NONE", ""),
    "NetworkKinds": ("BH_NETWORK_ETHERNET", ""),
    "Preset": ("BH_PRESET_DEFAULT", "BH_PRESET_DEFAULT"),
    "RedirectPolicy": ("BH_REDIRECTS_FOLLOW", ""),
    "Refresh": ("BH_REFRESH_NONE", "BH_REFRESH_NONE"),
    "RetryErrors": ("BH_RETRY_NAME", ""),
    "Status": ("BH_OK", ""),
    "TLSVersion": ("BH_TLS_1_2", ""),
    "TaskKind": ("BH_TASK_KIND_DOWNLOAD", ""),
    "TaskState": ("BH_TASK_WAITING", ""),
    "ThermalState": ("BH_THERMAL_NOMINAL", ""),
    "Tolerances": ("BH_TOLERATE_MISSING_CLOSE_NOTIFY", ""),
    "WaitingReason.Code": ("BH_REASON_NONE", "BH_REASON_NONE"),
}

#: Room between fields, which says nothing.
UNUSED = {"reserved"}


def declared():
    """Type, with the one that it is in -> its cases or members: name -> value, or the constant's name."""
    found = {}
    for source in swift(BINDING):
        path = []
        for line in source.lines:
            if match := TYPE.match(line):
                path[len(match[1]) // 4:] = [match[2]]
            elif match := CASE.match(line) or MEMBER.match(line):
                found.setdefault(".".join(path), {})[match[1]] = match[2]
    return found


def plain(name):
    """`http1_1` and `HTTP_1_1` are the same word."""
    return name.lower().replace("_", "")


def expected(key, without):
    enumeration = next(enumeration for enumeration in header().enumerations if enumeration.key == key)
    for constant in enumeration.constants:
        if constant.name not in without.split():
            name = constant.name.removeprefix(enumeration.prefix)
            yield plain(constant.name.removeprefix("BH_") if name[0].isdigit() else name), constant


def test_every_type_is_in_the_table():
    assert set(declared()) == set(TYPES)


@pytest.mark.parametrize("type_name", TYPES)
def test_the_values_are_those_of_the_header(type_name):
    ours = {plain(name): value for name, value in declared()[type_name].items()}
    constants = dict(expected(*TYPES[type_name]))
    assert set(ours) == set(constants)
    wrong = [name for name, value in ours.items() if value not in (str(constants[name].value), constants[name].name)]
    assert not wrong


def test_every_field_is_filled_or_read():
    text = "\n".join(source.text for source in swift(BINDING))
    missing = [f"{struct.name}.{field.name}" for struct in header().structs for field in struct.fields
               if field.name not in UNUSED and not re.search(rf"\.{field.name}\b|\b{field.name}:", text)]
    assert not missing
