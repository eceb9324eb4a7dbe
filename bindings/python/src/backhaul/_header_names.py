"""Every constant of this package by its name in include/backhaul.h, for a comparison with those of the library."""

from __future__ import annotations

from . import _numbers
from ._constants import PREFIXES


def _name(prefix: str, member: str) -> str:
    # A name cannot begin with a digit, so such a member repeats the last word of the prefix: HTTP_1_1 is BH_HTTP_1_1.
    word = prefix.split("_")[-2] + "_"
    repeats = member.startswith(word) and member[len(word)].isdigit()
    return prefix + (member[len(word) :] if repeats else member)


def by_header_name() -> dict[str, int]:
    """Returns the constants by names such as ``BH_ROLE_CONSUME``."""
    names = {_name(prefix, str(member.name)): int(member) for prefix, kind in PREFIXES for member in kind}
    plain = {"BH_" + name: value for name, value in vars(_numbers).items() if name.isupper()}
    return {**names, **plain}
