"""The command line has an option for each field of a session, a policy and a request. The JSON of the command line uses
the names of the fields."""

import re

import json_fields
import pytest
from tree import header, swift

COMMAND = "Sources/backhaul"
WORDS = "Sources/backhaul/Library/OptionNaming.swift"
NAMES = "Sources/backhaul/Library/Names.swift"
RECORDS = "Sources/backhaul/Library/JSON+Fields.swift"
#: A line in a table of options. The line has the field's name in the JSON, and the field's path in the C struct.
SETTING = re.compile(r'\.\w+\(\s*"(\w+)", \\\.([\w.]+), ')

#: Maps a struct to the names of the variables through which the code writes options into the struct.
VARIABLES = {
    "bh_session_configuration": "session|configuration|fields",
    "bh_policy": "policy|fields",
    "bh_request": "request",
}

#: Fields that no option sets, with the reason.
WITHOUT_OPTION = {
    "bh_session_configuration.launch_if_stopped_ms": "a program that is launched makes its sessions itself",
    "bh_session_configuration.sends_launch_events": "a program that is launched makes its sessions itself",
    "bh_request.mode": "the umask of the shell says it",
    "bh_request.user_data": "for the memory of a program; a person has --group",
    "bh_request.user_data_size": "as user_data",
}

#: Maps a source file to the JSON document that the file prints. No struct of the header describes these documents.
OWN_DOCUMENTS = {
    "Commands/Claim.swift": "the arguments of bh_task_claim",
    "Commands/Conditions.swift": "two lists in one document",
    "Commands/DoctorFinding.swift": "what `doctor` found",
    "Commands/Events.swift": "the result of bh_session_acknowledge_through",
    "Commands/Respond.swift": "the argument of bh_session_respond",
    "Commands/ServiceReport.swift": "the service",
    "Explanation/Advice.swift": "a sentence and a command",
    "Explanation/Explanation.swift": "a task, its waits and its conditions in one document",
    "Options/ControlOptions.swift": "the result of bh_tasks_cancel and the like",
    "Output/Output.swift": "bh_error below one key, to tell it from results",
}

#: Maps a constant to its word on the command line if the word cannot be made from the constant's name. None means that
#: the constant has no word.
OTHER_WORDS = {
    "BH_HTTP_1_1": "http1.1",
    "BH_HTTP_2": "http2",
    "BH_HTTP_2_PRIOR_KNOWLEDGE": "http2-prior-knowledge",
    "BH_TLS_1_2": "tlsv1.2",
    "BH_TLS_1_3": "tlsv1.3",
    "BH_PRESET_DEFAULT": "none",
    # This constant is no useful limit, because no task runs in the critical state.
    "BH_THERMAL_CRITICAL": None,
    # A constant that stands for a default has no word.
    "BH_THERMAL_DEFAULT": None, "BH_REDIRECTS_DEFAULT": None, "BH_COOKIES_DEFAULT": None, "BH_QUALITY_DEFAULT": None,
    "BH_TLS_DEFAULT": None, "BH_TASK_NONE": None, "BH_TASK_KIND_NONE": None,
}

#: Phrases that occur in messages of the library, and do not name a field.
PHRASES = {
    "choose embedded hosting", "the option `store`", "the option `daemon`", "the application identifier",
    "the launch's environment", "the URL cannot be read", ", which no listing shows",
    "body_source is given, but there is no body_file and there are no parts", "a checksum or an expected_size",
    "has BH_RETRY_NONE beside other bits; give it alone", "has a file or parts as its body; give bytes from memory",
}

#: The structs that are part of a path such as `proxy.url` in messages.
PREFIXES = ["retry", "proxy", "tls", "response", "configuration", "activity", "options", "network", "launch"]


def text():
    return "\n".join(source.text for source in swift(COMMAND))


def fields(name):
    """Yields the fields of a struct. A field of an embedded struct is given by its path, such as
    `retry.first_delay_ms`."""
    structs = {struct.name: struct for struct in header().structs}
    for field in structs[name].fields:
        if field.type in structs:
            yield from (f"{field.name}.{inner}" for inner in fields(field.type))
        elif field.name != "struct_size" and not field.name.startswith("reserved"):
            yield field.name


@pytest.mark.parametrize("name", VARIABLES)
def test_each_field_has_an_option_or_is_listed_with_a_reason(name):
    written = set(re.findall(rf"\b(?:{VARIABLES[name]})\.(\w+(?:\.\w+)?) = ", text()))
    written |= {path for _, path in SETTING.findall(text())}
    missing = {f"{name}.{field}" for field in fields(name)
               if field not in written and field.removeprefix("constraints.") not in written}
    assert missing == {field for field in WITHOUT_OPTION if field.startswith(f"{name}.")}


def printed(form):
    """Finds each place in the code that writes a struct as JSON with the function `form` (`record` or `excerpt`). The
    keys are in a list or in a table of options. Yields the struct and the written keys."""
    for source in swift(COMMAND):
        for match in re.finditer(rf"\.{form}\(of: (bh_\w+)\.self, \[(?:\n(.*?)\n +|([^\n]*))\]\)",
                                 source.text, re.DOTALL):
            yield match[1], re.findall(r'\("(\w+)",', match[2] or match[3])
        for match in re.finditer(rf"\.{form}\(of: (bh_\w+)\.self, \w+\.settings\.map", source.text):
            yield match[1], [name for name, _ in SETTING.findall(source.text)]


def test_the_keys_in_the_json_of_a_struct_are_the_names_of_its_fields():
    assert not [f"{struct}: {key}" for struct, written in printed("record")
                for key in sorted(set(written) ^ json_fields.keys(struct))]


def test_json_with_an_excerpt_of_a_struct_has_only_fields_of_the_struct():
    assert not [f"{struct}: {key}" for struct, written in printed("excerpt")
                for key in written if key not in json_fields.excerpt_keys(struct)]


def test_these_tests_find_every_place_that_prints_a_struct():
    places = sum(len(re.findall(r"\.(?:record|excerpt)\(of:", source.text)) for source in swift(COMMAND))
    assert len([*printed("record"), *printed("excerpt")]) == places > 0


def test_each_json_document_without_a_struct_in_the_header_is_listed():
    own = {source.name.removeprefix(f"{COMMAND}/") for source in swift(COMMAND)
           if source.name != RECORDS and ".object([" in source.text}
    assert own == set(OWN_DOCUMENTS)


def test_each_listed_difference_between_the_json_and_the_header_exists():
    known = {f"{name}.{field.name}" for name, struct in json_fields.structs().items() for field in struct.fields}
    written = {form: {f"{struct}.{key}" for struct, keys in printed(form) for key in keys}
               for form in ("record", "excerpt")}
    assert set(json_fields.NOT_PRINTED) <= known - written["record"]
    assert set(json_fields.ADDED) <= written["record"] - known
    assert set(json_fields.ADDED_TO_EXCERPTS) <= written["excerpt"] - known


def test_messages_use_the_field_names_of_the_header():
    words = next(source for source in swift(COMMAND) if source.name == WORDS)
    known = {name for struct in header().structs for field in struct.fields
             for name in (field.name, *(f"{prefix}.{field.name}" for prefix in PREFIXES))}
    known |= {constant.name for enumeration in header().enumerations for constant in enumeration.constants}
    spoken = re.findall(r'\("([^"]+)", "[^"]+"\)', words.text)
    unknown = [word for phrase in spoken if phrase not in PHRASES for word in phrase.split()
               if word not in known | {"is"}]
    assert spoken and not unknown


def test_the_word_for_a_constant_is_made_from_its_name():
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
