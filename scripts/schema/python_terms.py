"""Converts comments of the header to documentation of the Python package: sentences with Python's words."""

from __future__ import annotations

import re

from .model import Header
from .names import camel_case, python_class, python_member

#: Words of the comments -> Python's words. Rules convert the other names of C.
_WORDS = {
    "NULL": "None",
    "bh_error": "``BackhaulError``",
    "bh_enqueued": "``Enqueued``",
    "bh_proxy_settings": "``Proxy``",
    "bh_request.earliest_start_ms": "``Request.earliest_start``",
    "bh_request.latest_start_ms": "``Request.latest_start``",
    "bh_session_challenges": "``challenges``",
    "bh_session_create": "``session``",
    "bh_session_enqueue": "an enqueue",
    "bh_session_history": "``history``",
    "bh_session_respond": "``respond``",
    "bh_session_set_configuration": "``set_configuration``",
    "bh_task_claim": "``claim``",
    "bh_tasks_reschedule": "``reschedule``",
    "bh_tasks_set_rate": "``set_rate``",
    "bh_tls_settings": "``TLS``",
    "BH_REQUEST_STARTS_SUSPENDED": "``suspended``",
}

#: Enumerations whose members are arguments in Python: BH_RESPOND_URL is ``url``.
_ARGUMENTS = {"bh_challenge_response_kind", "bh_request_flags"}

# `BH_ROLE_…` means any constant of a family.
_FAMILY = re.compile(r"(BH_[A-Z_]*_)…")
_NAME_OF_C = re.compile(r"\bbh_[\w.]*\w|\bBH_\w+|\bNULL\b")
_ARTICLE = re.compile(r"\ba (?=`*[AEIO])")
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
# Matches a field, such as quiet_hours, that is not marked as code. Parts of paths and names of functions do not match.
_FIELD = re.compile(r"(?<![\w`\"./])((?:[a-z]+\.)?[a-z]+_[a-z_]*[a-z])(?![\w`\"(])")
_FIRST_WORD = re.compile(r"[a-z]+\b(?![_(])")


class PythonTerms:
    def __init__(self, header: Header, own: dict[str, str] | None = None) -> None:
        """``own`` has words for one module. They replace the general words."""
        self._words = {struct.name: f"``{camel_case(struct.name)}``" for struct in header.structs}
        #: The prefix of an enumeration's names -> the class of the enumeration.
        self._families: dict[str, str] = {}
        for enumeration in header.enumerations:
            name = python_class(enumeration)
            self._families[enumeration.prefix] = name
            for constant in enumeration.constants:
                member = python_member(enumeration, constant)
                is_argument = enumeration.name in _ARGUMENTS
                self._words[constant.name] = f"``{member.lower()}``" if is_argument else f"{name}.{member}"
        self._words |= {constant.name: constant.name.removeprefix("BH_") for constant in header.numbers}
        self._words |= _WORDS | (own or {})

    def of(self, comment: str) -> str:
        text = _FAMILY.sub(lambda match: self._families.get(match[1], match[0]), comment)
        text = _NAME_OF_C.sub(lambda match: self._word(match[0]), text)
        text = _ARTICLE.sub("an ", text)
        text = _FIELD.sub(r"``\1``", _CODE.sub(r"``\1``", text))
        return _sentence(text)

    def _word(self, name: str) -> str:
        struct, _, field = name.partition(".")
        if name in self._words or not field or struct not in self._words:
            return self._words.get(name, name)
        return f"{self._words[struct].removesuffix('``')}.{field}``"


def _sentence(text: str) -> str:
    if not text:
        return ""
    if _FIRST_WORD.match(text):
        text = text[0].upper() + text[1:]
    # A text that ends with a colon announces a table. The table is left out, so a period replaces the colon.
    return text if text.endswith((".", '."')) else text.removesuffix(":") + "."
