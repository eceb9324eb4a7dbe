"""Rules for the SQL of the library's database: where the SQL is, and what it may contain
(Sources/BackhaulStore/Tables/Tables.swift). An operation family is a struct with all functions for one subject, such as
events."""

import re
from collections import defaultdict
from functools import cache

from test_tidy import expect_none
from tree import swift

STORE = "Sources/BackhaulStore/"
TABLES = STORE + "Tables"
# SQLite's own tables, which describe the database. A statement that uses only these tables may be in any file.
WITHOUT_TABLES = {"sqlite_schema"}
# Temporary tables with the ids of rows for a bulk statement. Any statement may read them.
SELECTIONS = {"selected", "running", "acknowledged"}

# Each file has its own tables. Maps a file to the tables of other files that this file may join, and to the reason for
# the join.
JOINS = {
    "AttemptTable": ({"events"}, "the attempts of all acknowledged events at once"),
    "BodyTable": ({"events", "request_options"}, "the files of all acknowledged or cancelled tasks at once"),
    "CommandTable": ({"clients"}, "all clients without a row at once"),
    "DeliveredTable": ({"events", "sessions", "tasks"}, "the keys of all acknowledged events at once"),
    "EventTable": ({"tasks", "requests", "responses", "groups"}, "poll is hot: an event with its task is one row"),
    "HistoryTable": ({"events", "tasks", "requests", "request_options", "groups"},
                     "copies all acknowledged tasks at once"),
    "LeftoverTable": ({"claims", "requests", "tasks", "sessions"}, "the part files of all cancelled tasks, and the "
                      "copies of all acknowledged tasks at once; a part file for a later task stays only while its "
                      "session exists"),
    "PartTable": ({"tasks", "request_options"}, "a checkpoint or an intent is written only while its task lives; "
                  "progress is hot; with a checksum, a checkpoint is kept for a new URL"),
    "UploadTable": ({"tasks", "requests", "request_options", "refreshed_headers", "refreshed_requests", "taken_values"},
                    "an upload resource is not written after a success, and keeps what its removal needs"),
    "RequestTable": ({"tasks"}, "a request is found in its session only"),
    "Selection": ({"tasks", "events"}, "selects rows of them"),
    "SessionTable": ({"clients", "consumers"}, "a session is listed with its consumer"),
    "Tasks": ({"responses", "challenges", "checkpoints", "events", "groups", "intents", "lanes", "request_options",
               "requests"}, "a task is started and listed with all that belongs to it; both are hot"),
    "WaitTable": ({"sessions", "tasks"}, "the waits of many tasks at once"),
}

STATEMENT = re.compile(r"\b(SELECT|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM)\b")
CHANGED = re.compile(r"\b(?:INTO|DELETE FROM|UPDATE(?: OR \w+)?)\s+(?!SET\b)([a-z_]+)")
NAMED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?!SET\b)([a-z_]+)")
TABLE = re.compile(r'CREATE (?:TEMP )?TABLE "?(\w+)')
ENUMERATIONS = "state|kind|task_kind|due_reason|reason|body_source|next|status|error_domain|cookies|refresh|if_exists"
NUMBER = re.compile(
    rf"\b({ENUMERATIONS})\b *(=|<>|<=|>=|<|>|(NOT )?IN \() *\d"
    r"|VALUES \([^)']*(?<![?\w(])[1-9]"
    r"|WHEN \d")
USED = re.compile(r"^    private var \w+: (\w+Operations) \{", re.M)
HELD = re.compile(r"    (?:public |private )?(?:let|var) (\w+)(?!.*\{)")
LENT = re.compile(r"^    public var \w+: (\w+Operations) \{", re.M)
BY_HAND = re.compile(r'Query\(\s*"+\s*SELECT\s+([^"]*?)\bFROM\b')


def code(source):
    return "\n".join(line for line in source.lines if not line.lstrip().startswith("//"))


def unit(source):
    """Returns the name of the unit to which the source belongs. A unit is a file or a folder of files, and has its own
    tables."""
    return source.name.removeprefix(TABLES + "/").split("/")[0].removesuffix(".swift")


@cache
def tables():
    """Returns the tables of the schema, with the temporary tables."""
    return {name for source in swift(STORE + "Schema") for name in TABLE.findall(source.text)}


def named(pattern):
    found = defaultdict(set)
    for source in swift(TABLES):
        found[unit(source)] |= set(pattern.findall(code(source))) & tables()
    return found


@cache
def owners():
    found = defaultdict(set)
    for name, changed in named(CHANGED).items():
        for table in changed:
            found[table].add(name)
    return found


def test_sql_is_only_in_the_tables_folder():
    # A repair works on the rows of all tables, and on a schema of which it knows only the names of tables.
    # A fleet has another database, whose statements are in two folders.
    allowed = (TABLES + "/", STORE + "Schema/", STORE + "SQLite/", STORE + "Repair/", "Sources/BackhaulFleet/Queue/",
               "Sources/BackhaulFleet/Schema/")
    wrong = []
    for source in swift("Sources"):
        if source.name.startswith(allowed):
            continue
        for number, line in enumerate(source.lines, 1):
            names = set(NAMED.findall(line))
            if STATEMENT.search(line) and not line.lstrip().startswith("//") and not names <= WITHOUT_TABLES:
                wrong.append((source, number, "SQL belongs into Tables/"))
    wrong += [(source, 1, "operations use tables, no statements") for source in swift(STORE + "Operations")
              if re.search(r"\bQuery\(|\bconnection\b", code(source))]
    expect_none(wrong)


def test_exactly_one_file_changes_each_table():
    shared = {table: names for table, names in owners().items() if len(names) != 1}
    assert not shared
    assert tables() == set(owners()), "tables without a file"
    assert len(tables()) > 30


def test_a_file_uses_only_its_own_tables_and_the_listed_joins():
    joined = defaultdict(set)
    for name, read in named(NAMED).items():
        others = {table for table in read - SELECTIONS if owners()[table] != {name}}
        if others:
            joined[name] = others
    assert dict(joined) == {name: joins for name, (joins, _) in JOINS.items()}


def test_sql_has_no_literal_numbers_of_enumerations():
    expect_none([(source, number, line.strip()) for source in swift(TABLES)
                 for number, line in enumerate(source.lines, 1) if NUMBER.search(line)])


def test_no_query_contains_a_handwritten_list_of_columns():
    wrong = []
    for source in swift(TABLES):
        for match in BY_HAND.finditer(code(source)):
            columns = re.sub(r"\([^()]*\)", "", match[1])
            if "," in columns:
                wrong.append((source, 1, f"lists {columns.strip()} by hand"))
    expect_none(wrong)


def families():
    """Maps the name of each operation family to the families that it uses."""
    return {source.path.stem: set(USED.findall(code(source))) for source in swift(STORE + "Operations")}


def test_the_only_stored_property_of_an_operation_family_is_the_tables():
    for source in swift(STORE + "Operations"):
        begin = next(number for number, line in enumerate(source.lines) if f"struct {source.path.stem} {{" in line)
        stored = filter(None, map(HELD.match, source.lines[begin:source.lines.index("}")]))
        assert {match[1] for match in stored} <= {"tables"}, source.name


def test_operation_families_do_not_use_each_other_in_a_cycle():
    rest = families()
    assert len(rest) > 20
    while rest:
        lowest = {name for name, used in rest.items() if not used & set(rest)}
        assert lowest, f"these use each other in a circle: {sorted(rest)}"
        rest = {name: used for name, used in rest.items() if name not in lowest}


def test_each_operation_family_is_used_by_the_transaction_or_by_another_family():
    (transaction,) = (source for source in swift(STORE.rstrip("/")) if source.name == STORE + "Transaction.swift")
    lent = set(LENT.findall(transaction.text))
    used = set().union(*families().values())
    assert set(families()) == lent | used
