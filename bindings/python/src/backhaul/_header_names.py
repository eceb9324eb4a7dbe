"""The constants of this package, by their names in include/backhaul.h. They are compared with those of the library."""

from __future__ import annotations

from . import _numbers
from ._constants import PREFIXES


def _name(prefix: str, member: str) -> str:
    # The name of a member cannot begin with a digit. Such a member repeats the last word of its prefix: BH_HTTP_1_1 is
    # the member HTTP_1_1.
    word = prefix.split("_")[-2] + "_"
    repeats = member.startswith(word) and member[len(word)].isdigit()
    return prefix + (member[len(word) :] if repeats else member)


def by_header_name() -> dict[str, int]:
    """Returns the constants by names such as ``BH_ROLE_CONSUME``."""
    names = {_name(prefix, str(member.name)): int(member) for prefix, kind in PREFIXES for member in kind}
    plain = {"BH_" + name: value for name, value in vars(_numbers).items() if name.isupper()}
    return {**names, **plain}
