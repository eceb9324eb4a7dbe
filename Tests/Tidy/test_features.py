"""docs/abilities.md names existing tests for each feature. The tests of a feature use at least two languages."""

import re

from tree import PROJECT

ROWS = [[cell.strip() for cell in line.strip("|\n").split("|")]
        for line in (PROJECT / "docs" / "abilities.md").read_text().splitlines() if re.match(r"\| [A-Za-z].*`", line)]


def named(row):
    return [name.split("::", 1) for name in re.findall(r"`([^`]+)`", row[5])]


def language_of(path):
    if path.startswith("Tests/CLI/"):
        return "the shell"
    return {"c": "C", "py": "Python", "swift": "Swift"}[path.rpartition(".")[2]]


def test_the_row_of_each_feature_has_a_name_for_each_interface_and_has_tests():
    assert len(ROWS) > 20
    assert all(len(row) == 6 and all(row) for row in ROWS)


def test_each_feature_has_tests_in_at_least_two_languages():
    few = [row[0] for row in ROWS if len({language_of(path) for path, _ in named(row)}) < 2]
    assert not few


def test_each_named_test_exists():
    missing = [f"{path}: {name}" for row in ROWS for path, name in named(row) if not exists(PROJECT / path, name)]
    assert not missing, "\n".join(missing)


def exists(path, name):
    if not path.is_file():
        return False
    text = path.read_text()
    if path.name.startswith("rows_"):
        return f'Row("{name}"' in text
    if path.suffix == ".swift":  # a test with arguments has its name in a separate line
        return re.search(r'@Test\(\s*"' + re.escape(name) + '"', text) is not None
    return {".py": f"def {name}(", ".c": f"void {name}("}[path.suffix] in text
