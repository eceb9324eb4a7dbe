"""The command line has an option for each field of a session, a policy and a request. The JSON of the command line uses
the names of the fields."""

import re

import pytest
from schema import json_fields, names
from test_swift_binding import TYPES
from tree import header, swift

COMMAND = "Sources/backhaul"
MESSAGES = "Sources/backhaul/Output/OptionNaming.swift"
WORDS = "Sources/backhaul/Output/Words.swift"
RECORDS = "Sources/backhaul/Output/JSON+Fields.swift"
#: The beginning of a row in the table of settings: the field's path. A row with `[]` has no option.
SETTING = re.compile(r'(?:Setting|\.\w+)\(\s*"([\w.]+)",\s*(\[\])?')

#: Maps a struct to the names of the variables through which the code writes options into the struct's Swift type.
VARIABLES = {
    "bh_session_configuration": "configuration",
    "bh_policy": "policy",
    "bh_request": "request",
}

#: Maps a field to its Swift property, if the name of the property cannot be made from the field's name.
PROPERTIES = {
    "bh_request.flags": "startsSuspended",
    "bh_request.body_file": "body",
    "bh_request.body_source": "body",
    "bh_request.parts": "body",
}

#: Fields that no option sets, with the reason.
WITHOUT_OPTION = {
    "bh_request.url": "an operand",
    "bh_session_configuration.launch_if_stopped_ms": "a program that is launched makes its sessions itself",
    "bh_session_configuration.sends_launch_events": "a program that is launched makes its sessions itself",
    "bh_request.mode": "the umask of the shell says it",
    "bh_request.user_data": "for the memory of a program; a person has --group",
}

#: Maps a source file to the JSON document that the file prints. No struct of the header describes these documents.
OWN_DOCUMENTS = {
    "CommandLine/HelpDocument.swift": "the help",
    "Commands/Claim.swift": "the arguments of bh_task_claim",
    "Commands/Conditions.swift": "two lists in one document",
    "Commands/DoctorFinding.swift": "what `doctor` found",
    "Commands/Events.swift": "the result of bh_session_acknowledge_through",
    "Commands/Fleet.swift": "the state of a fleet, and its workers",
    "Commands/Respond.swift": "the argument of bh_session_respond",
    "Commands/ServiceReport.swift": "the service",
    "Explanation/Advice.swift": "a sentence and a command",
    "Explanation/Explanation.swift": "a task, its waits and its conditions in one document",
    "Monitor/ChangeLines.swift": "a task with its session and the time of a change",
    "Options/ControlOptions.swift": "the result of bh_tasks_cancel and the like",
    "Options/Setting.swift": "one setting, for the text of `configure`",
    "Options/SettingOptions.swift": "bh_session_configuration, from the table of settings",
    "Output/Output.swift": "bh_error below one key, to tell it from results",
}

#: The types with words that are not in `TYPES`.
OTHER_TYPES = {"ExistsPolicy": ("bh_if_exists", "")}

#: Constants that have no word. The critical state is no useful limit, because no task runs in it.
WITHOUT_WORD = {"BH_THERMAL_CRITICAL"}

#: Phrases that occur in messages of the library, and do not name a field.
PHRASES = {
    "choose BH_HOSTING_EMBEDDED", "give BH_HOSTING_DEFAULT, and run workers",
    "set tolerances to BH_TOLERATE_MISSING_CLOSE_NOTIFY",
    "set tolerances to BH_TOLERATE_EARLY_RESPONSE", "the application identifier",
    "the launch's environment", "the URL cannot be read", ", which no listing shows",
    "set asks_for_credentials of the stored configuration",
    "a range_start or a range_size", "range_start and range_size", "range_start or range_size",
    "a checksum or an expected_size", "has a file or parts as its body; give bytes from memory",
}

#: The structs that are part of a path such as `proxy.url` in messages.
PREFIXES = [
    "retry", "proxy", "tls", "response", "configuration", "activity", "options", "network", "launch", "selection"]


def text():
    return "\n".join(source.text for source in swift(COMMAND))


def fields(name):
    """Yields the fields of a struct. A field of an embedded struct is given by its path, such as
    `retry.first_delay_ms`."""
    structs = {struct.name: struct for struct in header().structs}
    for field in structs[name].fields:
        if field.type in structs:
            yield from (f"{field.name}.{inner}" for inner in fields(field.type))
        elif field in names.options(structs[name]) and not field.name.endswith(("_count", "_size")):
            yield field.name


def property_of(struct, field):
    """Returns the path of the Swift property, without the unit of a time."""
    if property := PROPERTIES.get(f"{struct}.{field}"):
        return property
    return ".".join(names.swift_property(part) for part in field.split("."))


def settings():
    """Yields each row of the table of settings: the path of the field, and whether an option sets it."""
    for source in swift(COMMAND):
        if "Options/Setting" in source.name:
            yield from ((path, not empty) for path, empty in SETTING.findall(source.text))


@pytest.mark.parametrize("name", VARIABLES)
def test_each_field_has_an_option_or_is_listed_with_a_reason(name):
    written = set(re.findall(rf"\b(?:{VARIABLES[name]})\.(\w+(?:\.\w+)?) = ", text()))
    written |= {path.removesuffix("Milliseconds") for path in written}
    in_table = {path for path, has_option in settings() if has_option} if name != "bh_request" else set()
    missing = {f"{name}.{field}" for field in fields(name)
               if field not in in_table and property_of(name, field) not in written}
    assert missing == {field for field in WITHOUT_OPTION if field.startswith(f"{name}.")}


def printed(form):
    """Finds each place in the code that writes a struct as JSON with the function `form` (`record` or `excerpt`). The
    keys are in a list. Yields the struct and the written keys. `Tests/CLI/test_json.py` checks the JSON of settings."""
    for source in swift(COMMAND):
        for match in re.finditer(rf'\.{form}\(\s*"(bh_\w+)",\s*\[(?:\n(.*?)\n +|([^\n]*))\]\s*\)',
                                 source.text, re.DOTALL):
            yield match[1], re.findall(r'\(\s*"(\w+)",', match[2] or match[3])


def test_the_keys_in_the_json_of_a_struct_are_the_names_of_its_fields():
    assert not [f"{struct}: {key}" for struct, written in printed("record")
                for key in sorted(set(written) ^ json_fields.keys(struct))]


def test_json_with_an_excerpt_of_a_struct_has_only_fields_of_the_struct():
    assert not [f"{struct}: {key}" for struct, written in printed("excerpt")
                for key in written if key not in json_fields.excerpt_keys(struct)]


def test_these_tests_find_every_place_that_prints_a_struct():
    places = sum(len(re.findall(r'\.(?:record|excerpt)\(\s*"bh_', source.text)) for source in swift(COMMAND))
    assert len([*printed("record"), *printed("excerpt")]) == places > 0


def test_each_json_document_without_a_struct_in_the_header_is_listed():
    own = {source.name.removeprefix(f"{COMMAND}/") for source in swift(COMMAND)
           if source.name != RECORDS and ".object([" in source.text}
    assert own == set(OWN_DOCUMENTS)


def test_each_listed_difference_between_the_json_and_the_header_exists():
    known = {f"{name}.{field.name}" for name, struct in json_fields.structs().items() for field in struct.fields}
    written = {form: {f"{struct}.{key}" for struct, keys in printed(form) for key in keys}
               for form in ("record", "excerpt")}
    written["record"] |= {f"bh_session_configuration.{path}" for path, _ in settings()}
    assert set(json_fields.NOT_PRINTED) <= known - written["record"]
    assert set(json_fields.ADDED) <= written["record"] - known
    assert set(json_fields.ADDED_TO_EXCERPTS) <= written["excerpt"] - known


def test_messages_use_the_field_names_of_the_header():
    words = next(source for source in swift(COMMAND) if source.name == MESSAGES)
    known = {name for struct in header().structs for field in struct.fields
             for name in (field.name, *(f"{prefix}.{field.name}" for prefix in PREFIXES))}
    known |= {constant.name for enumeration in header().enumerations for constant in enumeration.constants}
    spoken = re.findall(r'\("([^"]+)", "[^"]+"\)', words.text)
    unknown = [word for phrase in spoken if phrase not in PHRASES for word in phrase.split()
               if word not in known | {"is"}]
    assert spoken and not unknown


def test_the_words_of_the_command_line_are_those_of_bh_name():
    words = next(source for source in swift(COMMAND) if source.name == WORDS).text
    wrong = []
    for type_name, table in re.findall(r"extension ([\w.]+): Worded \{\n(.*?)\n\}", words, re.DOTALL):
        key, without = (TYPES | OTHER_TYPES)[type_name]
        written = {case: word for word, case in re.findall(r'\("([^"]+)", \.?(\w+|\[\])\)', table)}
        enumeration = next(enumeration for enumeration in header().enumerations if enumeration.key == key)
        for constant in enumeration.constants:
            case = "[]" if constant.name == "BH_RETRY_NONE" else names.swift_member(enumeration, constant)
            expected = names.word(enumeration, constant)
            if constant.name in WITHOUT_WORD or constant.name in without.split() and case != "[]":
                expected = None
            if written.pop(case, None) != expected:
                wrong.append(f"{constant.name} is not {expected!r}")
        wrong += [f"{type_name}.{case}" for case in written]
    assert not wrong
