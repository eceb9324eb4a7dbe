"""A constant has one word in C, in Python, and on the command line. Tests/Tidy checks the words of the command
line."""

import pytest
from backhaul import _constants
from backhaul._library import library as loaded
from schema import header, names

ENUMERATIONS = header.read().enumerations


@pytest.mark.parametrize("enumeration", ENUMERATIONS, ids=lambda enumeration: enumeration.key)
def test_a_constant_has_the_same_word_in_c_and_in_python(enumeration):
    kind = getattr(_constants, names.python_class(enumeration))
    words = {constant.value: names.word(enumeration, constant) for constant in enumeration.constants}
    assert {value: loaded.bh_name(enumeration.name.encode(), value).decode() for value in words} == words
    assert {value: str(kind(value)) for value in words} == words
