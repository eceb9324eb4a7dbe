# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
"""The words of members that are not the members' names in lower case: they are options of curl."""

from __future__ import annotations

WORDS = {
    "HTTP_1_1": "http1.1",
    "HTTP_2": "http2",
    "HTTP_2_PRIOR_KNOWLEDGE": "http2-prior-knowledge",
    "TLS_1_2": "tlsv1.2",
    "TLS_1_3": "tlsv1.3",
}
