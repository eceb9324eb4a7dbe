"""help() describes the attributes of classes, although Python does not keep comments."""

import dataclasses
import pydoc

import pytest

import backhaul
from backhaul import BackhaulError, IfExists, Request, RetryPolicy

EXPORTED = [vars(backhaul)[name] for name in backhaul.__all__]


def shown(kind):
    return pydoc.render_doc(kind, renderer=pydoc.plaintext)


@pytest.mark.parametrize(("kind", "lines"), [
    (Request, ["expected_size", "    The size of the file in bytes."]),
    (RetryPolicy, ["first_delay_ms", "    Default 1,000: delay after the first failed attempt."]),
    (BackhaulError, ["status", "    The status that the call returned."]),
    (IfExists, ["What the engine does if a file with the destination's name exists."]),
])
def test_help_of_a_class_says_what_the_class_and_its_attributes_are(kind, lines):
    assert "\n |  ".join(["", *lines]) in shown(kind)


@pytest.mark.parametrize("kind", [kind for kind in EXPORTED if dataclasses.is_dataclass(kind)])
def test_help_of_a_class_describes_each_of_its_fields(kind):
    fields = {field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")}
    text = shown(kind)
    assert [name for name in fields if f"\n |  {name}\n |      " not in text] == []
