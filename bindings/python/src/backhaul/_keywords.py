"""The check of keyword arguments. Several methods accept the fields of another class as keywords. Without the check,
the message for an unknown keyword would name an internal function."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches


def check(method: str, given: Collection[str], accepted: Collection[str]) -> None:
    """Raises a TypeError, as Python does, if the caller of ``method`` gives a keyword that the method does not
    accept."""
    for name in given:
        if name not in accepted:
            near = get_close_matches(name, accepted, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; it accepts {', '.join(sorted(accepted))}"
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}{hint}")
