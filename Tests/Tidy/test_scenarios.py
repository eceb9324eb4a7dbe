"""docs/conditions.md shows what the scenarios of Tests/Integration/conditions have left."""

from tree import PROJECT

from conditions.document import PAGE, TITLE, page


def test_the_scenarios_of_the_page_are_those_that_were_played():
    text = PAGE.read_text()
    assert TITLE in text and text == page(text), "run scripts/document-scenarios"
