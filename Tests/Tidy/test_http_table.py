"""docs/http.md is generated from rows in Tests/Integration/behaviours. Each row describes a server and what the library
does."""

from tree import PROJECT

from behaviours.document import document
from behaviours.table import ROWS


def test_docs_http_md_matches_the_rows():
    assert (PROJECT / "docs" / "http.md").read_text() == document(), "run scripts/document-behaviours"


def test_each_row_has_a_unique_name():
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))
