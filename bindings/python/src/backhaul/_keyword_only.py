"""``dataclass`` with ``kw_only``. Before Python 3.10, which lacks it, only the type hints enforce it."""

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
