"""docs/conditions.md shows what the scenarios of Tests/conditions have left."""

import sys

from tree import PROJECT

sys.path.insert(0, str(PROJECT / "Tests"))

from conditions.document import PAGE, TITLE, page  # noqa: E402


def test_the_scenarios_of_the_page_are_those_that_were_played():
    text = PAGE.read_text()
    assert TITLE in text and text == page(text), "run scripts/document-scenarios"
