"""Maps names in include/backhaul.h to the constants of this package, for a comparison with the library's constants."""

from __future__ import annotations

from . import _numbers
from ._constants import PREFIXES


def header_name(prefix: str, member: str) -> str:
    """Returns the name of a member in the header."""
    # The name of a member cannot begin with a digit. If a digit follows the prefix in the header's name, the member's
    # name begins with the last word of the prefix. For example, BH_HTTP_1_1 has the prefix BH_HTTP_, and its member is
    # HTTP_1_1.
    word = prefix.split("_")[-2] + "_"
    repeats = member.startswith(word) and member[len(word)].isdigit()
    return prefix + (member[len(word) :] if repeats else member)


def by_header_name() -> dict[str, int]:
    """Returns the values of the constants. The keys are names such as ``BH_ROLE_CONSUME``."""
    names = {header_name(prefix, str(member.name)): int(member) for prefix, kind in PREFIXES for member in kind}
    plain = {"BH_" + name: value for name, value in vars(_numbers).items() if name.isupper()}
    return {**names, **plain}
