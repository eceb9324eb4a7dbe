"""All rows of the table of HTTP behaviours. Each row states what a test server sends, and how the task must end."""

from behaviours import (
    rows_authentication,
    rows_conditionals,
    rows_cookies,
    rows_curl,
    rows_early,
    rows_framing,
    rows_hostile,
    rows_ranges,
    rows_redirects,
    rows_statuses,
    rows_uploads,
    rows_urlsession,
    rows_wget,
)

MODULES = [
    rows_ranges, rows_framing, rows_redirects, rows_statuses, rows_conditionals, rows_authentication, rows_cookies,
    rows_uploads, rows_early, rows_hostile, rows_urlsession, rows_wget, rows_curl,
]
ROWS = [row for module in MODULES for row in module.ROWS]
