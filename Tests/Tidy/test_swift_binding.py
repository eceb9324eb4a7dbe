"""The enumerations and option sets of the Swift binding match include/backhaul.h. The binding fills or reads every
field of the header's structs.

These types are written by hand, with documentation comments for Swift. The compiler does not accept a C constant as the
raw value of a case, so the types contain numbers. These tests compare the numbers with the header.
"""

import re

import pytest

from schema import names
from tree import header, swift

BINDING = "bindings/swift/Sources/Backhaul"
TYPE = re.compile(r"^( *)public (?:enum|struct) (\w+)(?:: ([\w, ]+))? \{$")
ANY_CASE = re.compile(r"^ *(?:(?:indirect )?case|public static let) `?(\w+)\b")
CASE = re.compile(r"^ *case `?(\w+)`? = (\d+)$")
MEMBER = re.compile(r"^ *public static let `?(\w+)`? = (?!Int32)\w+\((BH_\w+)\)$")

DECLARATION = re.compile(
    r"^( *)(?:@\w+(?:\([^)]*\))? )*(?:public|open) (?!.*\b(?:import|override)\b)(?:[a-z]+(?:\(set\))? )*?"
    r"(actor|case|class|enum|func|init|let|protocol|struct|subscript|typealias|var)\b")
INNER = {"enum": re.compile(r" *(?:indirect )?case "), "protocol": re.compile(r" *(?:@\w+ )*(?:func|init|var) ")}

#: Maps a Swift type to an enumeration of the header, and to the constants that are nil or an empty set in Swift.
TYPES = {
    "Activity.QualityOfService": ("bh_quality_of_service", "BH_QUALITY_DEFAULT"),
    "BackhaulError.Domain": ("bh_domain", ""),
    "Body.Source": ("bh_body_source", ""),
    "Challenge.Kind": ("bh_challenge_kind", ""),
    "Challenge.Schemes": ("bh_schemes", ""),
    "Condition.Connectivity": ("bh_connectivity", ""),
    "Condition.Kind": ("bh_condition_kind", ""),
    "CookiePolicy": ("bh_cookies", "BH_COOKIES_DEFAULT"),
    "HTTPVersion": ("bh_http_version", "BH_HTTP_DEFAULT"),
    "Hosting": ("bh_hosting", "BH_HOSTING_DEFAULT"),
    "Dependency.Failure": ("bh_dependency_failure", "BH_DEPENDENCY_FAILURE_DEFAULT"),
    "LaunchState": ("bh_launch_state", ""),
    "NetworkKinds": ("bh_network_kinds", ""),
    "Preset": ("bh_preset", "BH_PRESET_DEFAULT"),
    "RedirectPolicy": ("bh_redirects", "BH_REDIRECTS_DEFAULT"),
    "Refresh": ("bh_refresh", "BH_REFRESH_NONE"),
    "ResumableUploads": ("bh_resumable_uploads", "BH_RESUMABLE_UPLOADS_DEFAULT"),
    "RetryErrors": ("bh_retry_errors", "BH_RETRY_NONE"),
    "Status": ("bh_status", ""),
    "TLSVersion": ("bh_tls_version", "BH_TLS_DEFAULT"),
    "TaskKind": ("bh_task_kind", "BH_TASK_KIND_NONE"),
    "TaskState": ("bh_task_state", "BH_TASK_NONE"),
    "ThermalState": ("bh_thermal_state", "BH_THERMAL_DEFAULT"),
    "Tolerances": ("bh_tolerances", ""),
    "WaitingReason.Code": ("bh_reason", "BH_REASON_NONE"),
}

#: Padding between fields, which has no meaning.
UNUSED = {"reserved", "reserved_number"}


def declared():
    """Maps each type to its cases or members. The name of an inner type includes the name of the outer type. Each case
    or member has a name and a value. The value is a number, or the name of a C constant."""
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
    """Returns the name without case and underscores, so that `http1_1` and `HTTP_1_1` are equal."""
    return name.lower().replace("_", "")


def expected(key, without):
    enumeration = next(enumeration for enumeration in header().enumerations if enumeration.key == key)
    for constant in enumeration.constants:
        if constant.name not in without.split():
            yield plain(names.swift_member(enumeration, constant)), constant


def test_the_table_has_every_enumeration_and_option_set_of_the_swift_binding():
    assert set(declared()) == set(TYPES)


@pytest.mark.parametrize("type_name", TYPES)
def test_the_values_of_the_swift_binding_match_the_header(type_name):
    ours = {plain(name): value for name, value in declared()[type_name].items()}
    constants = dict(expected(*TYPES[type_name]))
    assert set(ours) == set(constants)
    wrong = [name for name, value in ours.items() if value not in (str(constants[name].value), constants[name].name)]
    assert not wrong


def test_no_case_of_the_swift_binding_has_the_name_of_nil():
    """For an optional enumeration, Swift reads `.none` as nil, which stands for the default."""
    found = [f"{source.name}:{number}" for source in swift("bindings/swift/Sources")
             for number, line in enumerate(source.lines, 1)
             if (match := ANY_CASE.match(line)) and match[1] in ("none", "some")]
    assert not found


def undocumented(lines):
    """Returns the numbers of the lines that declare a public symbol without a documentation comment. The cases of a
    public enumeration and the requirements of a public protocol are public, too."""
    inner = None
    for number, line in enumerate(lines, 1):
        if inner and line.startswith(f"{inner[0]}}}"):
            inner = None
        match = DECLARATION.match(line)
        if match and match[2] in INNER and not line.rstrip().endswith("}"):
            inner = (match[1], f"{match[1]}    ", INNER[match[2]])
        is_inner = inner and re.match(rf"{inner[1]}\S", line) and inner[2].match(line)
        above = number - 2
        while above > 0 and lines[above].lstrip().startswith("@"):
            above -= 1
        if (match or is_inner) and not lines[above].lstrip().startswith("///"):
            yield number


def test_each_public_symbol_of_the_swift_binding_has_a_documentation_comment():
    found = [f"{source.name}:{number}" for source in swift("bindings/swift/Sources")
             for number in undocumented(source.lines)]
    assert not found


def test_a_symbol_without_a_documentation_comment_is_found():
    text = """/// A type.
    public enum Kind {
        /// A case.
        case first
        case second
        @discardableResult
        public func run() {}
        func inner() {}
    }"""
    assert list(undocumented([line.removeprefix("    ") for line in text.split("\n")])) == [5, 7]


def test_the_swift_binding_fills_or_reads_every_field():
    text = "\n".join(source.text for source in swift(BINDING))
    missing = [f"{struct.name}.{field.name}" for struct in header().structs for field in struct.fields
               if field.name not in UNUSED and not re.search(rf"\.{field.name}\b|\b{field.name}:", text)]
    assert not missing
