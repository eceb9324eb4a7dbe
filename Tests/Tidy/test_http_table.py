"""docs/http.md is what the rows of Tests/Integration/behaviours say."""

from tree import PROJECT

from behaviours.document import document
from behaviours.table import ROWS


def test_the_page_is_what_the_rows_say():
    assert (PROJECT / "docs" / "http.md").read_text() == document(), "run scripts/document-behaviours"


def test_each_row_has_a_name_of_its_own():
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))
