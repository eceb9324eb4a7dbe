"""Values can be copied, pickled and converted to dictionaries. A value is an object that a call returns or takes, and
that has no connection to the library."""

import copy
import dataclasses
import pickle
import re
import typing
from enum import Enum

import pytest

import backhaul
from backhaul import BackhaulError, Event, Request, Status, _reading

CLASSES = {name: kind for name, kind in vars(backhaul).items() if isinstance(kind, type)}
VALUES = [kind for kind in CLASSES.values() if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")]


def sample(annotation, name):
    """Returns a value for a field: not None, if possible."""
    kind = next((CLASSES[word] for word in annotation.split(" | ") if word in CLASSES), None)
    if kind is not None and issubclass(kind, Enum):
        return list(kind)[-1]
    if kind is not None:
        return made(kind)
    plain = annotation.split(" | None")[0]
    # A list, such as tuple[SessionInfo, ...], has one item of this class.
    item = next((CLASSES[word] for word in re.findall(r"\w+", plain) if word in CLASSES), None)
    if item is not None:
        return (made(item),)
    return {"bytes": b"\0b", "bool": True, "int": 7, "Headers": (("A", "b"),), "Mapping[str, str]": {"A": "b"},
            "tuple[tuple[str, str], ...]": (("A", "b"),), "tuple[str, ...]": ("a",),
            "Sequence[StrPath]": ("a",)}.get(plain, f"a {name}")


def made(kind):
    """Returns an object of the class, with a value in each field."""
    if dataclasses.is_dataclass(kind):
        fields = [(field.name, str(field.type)) for field in dataclasses.fields(kind) if field.init]
    else:
        fields = [(name, getattr(of, "__forward_arg__", str(of))) for name, of in kind.__annotations__.items()]
    return kind(**{name: sample(annotation, name) for name, annotation in fields})


COPIES = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_a_copy_of_a_value_is_equal_to_the_value(kind, how):
    value = made(kind)
    assert COPIES[how](value) == value


@pytest.mark.parametrize("kind", [kind for kind in VALUES if dataclasses.is_dataclass(kind)],
                         ids=lambda kind: kind.__name__)
def test_a_value_can_be_converted_to_a_dictionary_that_can_be_pickled(kind):
    found = dataclasses.asdict(made(kind))
    assert set(found) == {field.name for field in dataclasses.fields(kind)}
    assert pickle.loads(pickle.dumps(found)) == found


class Session:
    """Records the acknowledged events."""

    def __init__(self):
        self.acknowledged = []

    def acknowledge(self, events, *, timeout=None):
        self.acknowledged += events

    def __reduce__(self):
        raise TypeError("a session cannot be copied")


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_of_an_event_belongs_to_no_session_and_says_how_to_acknowledge_it(how):
    session = Session()
    event = made(Event)._with(session)
    event.acknowledge()
    assert session.acknowledged == [event]
    copied = COPIES[how](event)
    assert copied == event and dataclasses.asdict(event) == dataclasses.asdict(copied)
    with pytest.raises(backhaul.WrongState, match=r"session\.acknowledge\(\[event\]\)"):
        copied.acknowledge()


@pytest.mark.parametrize("kind", [kind for kind in vars(backhaul).values()
                                  if isinstance(kind, type) and issubclass(kind, Enum)], ids=lambda kind: kind.__name__)
def test_a_member_of_an_enumeration_can_be_copied_even_if_it_is_unknown(kind):
    for member in [*kind, kind(1 << 20)]:
        assert all(of(member) == member for of in COPIES.values())


def test_a_copied_error_has_the_results_of_the_requests_that_were_applied():
    error = BackhaulError(Status.DISK_FULL, "full", index=3)
    error.applied = [made(backhaul.Enqueued)]
    copied = COPIES["pickle"](error)
    assert vars(copied) == vars(error)


def test_the_text_of_an_event_is_short_and_has_no_query_of_a_url():
    event = dataclasses.replace(made(Event), url="https://example.org/a?signature=secret")
    assert len(repr(event)) < 400
    assert "https://example.org/a" in repr(event) and "secret" not in repr(event)


def test_no_text_of_a_request_has_its_headers_or_its_body():
    request = Request("https://example.org/", headers={"Authorization": "Bearer secret"}, body=b"secret")
    assert "secret" not in repr(request)


def test_every_value_of_the_package_is_tested():
    assert {Event, Request, backhaul.Enqueued, backhaul.Events, backhaul.TaskInfo} <= set(VALUES)
    assert typing.get_type_hints(_reading.events)["return"] in VALUES
