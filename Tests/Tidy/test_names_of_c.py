"""Each C name in a document exists in include/backhaul.h. The tables of constants in the documents are complete."""

import re

import pytest

from tree import header, sources

ROW = re.compile(r"^\|.*\|$")


def documents():
    return [source for source in sources() if source.path.suffix == ".md" and source.name != "CHANGELOG.md"]


def names():
    read = header()
    yield from (constant.name for enumeration in read.enumerations for constant in enumeration.constants)
    yield from (number.name for number in read.numbers)
    for group in (read.structs, read.functions):
        yield from (item.name for item in group)
    yield from read.opaque
    yield from read.types
    yield from re.findall(r"#define (BH_\w+)", "\n".join(next(
        source for source in sources() if source.name == "include/backhaul.h").lines))


def test_each_c_name_in_a_document_exists_in_the_header():
    known = set(names())
    unknown = [f"{source.name}:{number}: {word}" for source in documents()
               for number, line in enumerate(source.lines, 1)
               for word in re.findall(r"`((?:BH|bh)_\w+)(?:\(\))?`", line) if word not in known]
    if unknown:
        pytest.fail("\n".join(unknown), pytrace=False)


#: Each key names a document and an enumeration. The document has a table of the enumeration's constants. The value is
#: the set of constants that this table omits.
TABLES = {
    ("docs/conditions.md", "bh_preset"): {"BH_PRESET_DEFAULT"},
    ("docs/credentials.md", "bh_refresh"): {"BH_REFRESH_NONE"},
    ("docs/credentials.md", "bh_challenge_response_kind"): set(),
    ("docs/retries.md", "bh_retry_errors"): set(),
}


@pytest.mark.parametrize(("document", "key"), TABLES)
def test_a_table_of_constants_in_a_document_is_complete(document, key):
    source = next(source for source in documents() if source.name == document)
    enumeration = next(enumeration for enumeration in header().enumerations if enumeration.key == key)
    rows = "\n".join(line for line in source.lines if ROW.match(line))
    missing = {constant.name for constant in enumeration.constants if f"`{constant.name}`" not in rows}
    assert missing == TABLES[document, key]
