"""Each threat in docs/security.md has a defence, and tests that exist."""

import re

import pytest
from test_contract import exists, rows

from tree import PROJECT

PAGE = (PROJECT / "docs" / "security.md").read_text()
THREATS = rows(PAGE.split("## Threats, defences and tests")[1].split("\n## ")[0], r"\| [a-z]")[1:]


def test_each_threat_has_a_defence_and_a_test():
    assert THREATS and all(len(row) == 4 and all(row) and "`Tests/" in row[3] for row in THREATS)


@pytest.mark.parametrize("row", THREATS, ids=lambda row: row[1])
def test_each_named_test_exists(row):
    named = [name.partition("::")[::2] for name in re.findall(r"`([^`]+)`", row[3])]
    assert [path for path, name in named if not (PROJECT / path).is_file()] == []
    assert [(path, name) for path, name in named if name and not exists(PROJECT / path, name)] == []


def test_each_kind_of_attacker_of_the_first_table_has_threats():
    kinds = {row[0] for row in THREATS}
    assert {"other users", "other programs", "servers", "proxies", "files", "destinations"} <= kinds
