"""The docstrings of classes, with the comments of their attributes that begin with ``#:``. Python does not keep such
comments, so they are read from the source when a program or a person asks for the docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

_ATTRIBUTE = re.compile(r"((?:^ +#:.*\n)+) +(?:self\.)?([A-Za-z]\w*)(?=:| =)", re.MULTILINE)


class _WithAttributes:
    """A docstring that Python computes as it computes a property."""

    def __init__(self, text: str | None) -> None:
        self._text = inspect.cleandoc(text or "")

    def __get__(self, value: object, owner: type) -> str:
        try:
            source = inspect.getsource(owner)
        except OSError:  # only compiled modules are installed
            return self._text
        attributes = (
            f"{name}\n" + re.sub(r"^ +#:", "   ", comment, flags=re.MULTILINE).rstrip()
            for comment, name in _ATTRIBUTE.findall(source)
        )
        return "\n\n".join([self._text, *attributes])


def add_attributes(objects: Iterable[object]) -> None:
    """Makes ``help`` show the attributes of each class. Enumerations are left out: for a class with a metaclass,
    ``help`` ignores a computed docstring."""
    for one in objects:
        if type(one) is type:
            one.__doc__ = _WithAttributes(one.__doc__)  # type: ignore[assignment]
