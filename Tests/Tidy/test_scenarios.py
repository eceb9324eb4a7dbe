"""docs/conditions.md shows what the tests in Tests/Integration/conditions have recorded: which tasks wait, and why."""


from conditions.document import PAGE, TITLE, page


def test_docs_conditions_md_shows_the_recorded_scenarios():
    text = PAGE.read_text()
    assert TITLE in text and text == page(text), "run scripts/document-scenarios"
