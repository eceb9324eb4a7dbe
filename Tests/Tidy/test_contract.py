"""The table in docs/contract.md has a row for each sentence of the contract. The row names existing tests of the
sentence, or a deviation from the sentence. Further tables have the promises for each kind of transfer, the promises in
the field, and their tests."""

import re

from tree import PROJECT

CONTRACT, FIELD = (PROJECT / "docs" / "contract.md").read_text().split("## Promises in the field")


def rows(text, beginning):
    return [[cell.strip() for cell in line.strip("|\n").split("|")]
            for line in text.splitlines() if re.match(beginning, line)]


ROWS = rows(CONTRACT, r"\| \d")
FIELD_ROWS = rows(FIELD, r"\| [A-Z]")
KIND_ROWS = rows(CONTRACT.partition("## Each kind of transfer")[2], r"\| [A-Z]")


def test_the_table_lists_all_sentences_of_the_contract_in_order():
    assert [int(row[0]) for row in ROWS] == list(range(1, 39))
    assert all(len(row) == 5 and all(row) for row in ROWS)


def test_each_sentence_of_the_contract_has_a_test_or_a_deviation():
    wrong = [row[0] for row in ROWS if "`" not in row[4] and not re.search(r"\*\*(Deviation|Not there yet)", row[3])]
    assert not wrong


def test_each_promise_in_the_field_has_a_test():
    assert FIELD_ROWS and all(len(row) == 3 and "`" in row[2] for row in FIELD_ROWS)


def test_each_promise_for_a_kind_of_transfer_has_a_test():
    assert KIND_ROWS and all(len(row) == 6 and all("<br>`Tests/" in cell for cell in row[1:]) for row in KIND_ROWS)


def test_each_named_test_exists():
    named = [(row[0], *name.partition("::")[::2])
             for row in ROWS + FIELD_ROWS for name in re.findall(r"`([^`]+)`", row[-1])]
    named += [(row[0], *name.partition("::")[::2])
              for row in KIND_ROWS for cell in row[1:] for name in re.findall(r"<br>`([^`]+)`", cell)]
    missing = [f"{number}: {path}: {name}" for number, path, name in named if not exists(PROJECT / path, name)]
    assert not missing, "\n".join(missing)


def exists(path, name):
    """Whether the test exists. Without a name, all tests of the file are meant."""
    if not path.is_file() or not name:
        return path.is_file()
    text = path.read_text()
    return f"def {name}(" in text if path.suffix == ".py" else f'@Test("{name}"' in text
