"""Converts comments of the C header to documentation of the Swift package: replaces words of C by Swift's words."""

from __future__ import annotations

import re

from . import names
from .model import Field, Header, Struct

#: Words of the comments -> Swift's words. Rules convert the other names of C.
_WORDS = {
    "BH_NO": "`false`",
    "BH_HISTORY_NONE": "`HistoryLimit.noTasks`",
    "BH_YES": "`true`",
    "NULL": "nil",
    "bh_session_history": "`Session.history`",
}
#: Phrases of the comments -> Swift's phrases. Where C uses 0, Swift uses nil.
_PHRASES = {
    "0 and NULL are the defaults": "Nil stands for the default",
    "0 as 0": "nil as nil",
    ". 0: never": ". Nil: never",
}
_NAME_OF_C = re.compile(r"\bbh_\w+|\bBH_\w+|\bNULL\b")
_FIELD = re.compile(r"(?<![\w`\"./])((?:[a-z]+\.)?)([a-z]+_[a-z_]*[a-z])(?![\w`\"(])")
_DEFAULT_TIME = re.compile(r"\b(default \d[\d,]*\d)\b")


class SwiftWords:
    def __init__(self, header: Header) -> None:
        self._fields = {field.name for struct in header.structs for field in struct.fields}
        self._words = {struct.name: f"`{names.value(struct.name)}`" for struct in header.structs}
        for enumeration in header.enumerations:
            if enumeration.name:
                kind = names.swift_type(enumeration.name)
                self._words |= {
                    constant.name: f"`{kind}.{names.swift_member(enumeration, constant)}`"
                    for constant in enumeration.constants
                }
        self._words |= _WORDS

    def of_struct(self, struct: Struct) -> str:
        text = self._of(struct.documentation)
        return text if "Nil stands for" in text else f"{text} Nil stands for the default."

    def of_field(self, field: Field, text: str) -> str:
        """Converts the documentation of a field. Adds the unit to a default time, because the header has the unit only
        in the field's name."""
        text = text.removeprefix("required: ")
        return self._of(_DEFAULT_TIME.sub(r"\1 ms", text) if field.name.endswith("_ms") else text)

    def _of(self, text: str) -> str:
        for phrase, other in _PHRASES.items():
            text = text.replace(phrase, other)
        text = _NAME_OF_C.sub(lambda match: self._words.get(match[0], match[0]), text)
        text = _FIELD.sub(self._property, text)
        if not text:
            return ""
        first = re.match(r"[a-z]+\b(?![_(.])", text)
        text = text[0].upper() + text[1:] if first else text
        return text if text.endswith((".", '."')) else f"{text}."

    def _property(self, match: re.Match[str]) -> str:
        return f"`{match[1]}{names.swift_property(match[2])}`" if match[2] in self._fields else match[0]
