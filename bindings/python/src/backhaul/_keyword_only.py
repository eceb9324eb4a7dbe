"""``dataclass`` with the option ``kw_only``. Python 3.9 lacks this option, so only type checkers enforce the
option in Python 3.9."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 10):
    from dataclasses import dataclass
else:

    def dataclass(*, kw_only: bool, **options: Any) -> Any:
        return dataclasses.dataclass(**options)


__all__ = ["dataclass"]
