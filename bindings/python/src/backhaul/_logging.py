"""The logger of this package, ``backhaul``. It is quiet until the program configures it, for example with
``logging.basicConfig(level=logging.DEBUG)``. Records have no URLs, headers and credentials, because they may be
secrets."""

from __future__ import annotations

import logging

log = logging.getLogger("backhaul")
# Without a handler, the module `logging` would write warnings to stderr.
log.addHandler(logging.NullHandler())
