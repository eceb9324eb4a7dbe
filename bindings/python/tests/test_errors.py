"""Each status, except the three in PLAIN, has a subclass of the base exception BackhaulError. Each exception has all
details that the library returned."""

import pickle

import pytest

import backhaul
from backhaul import _errors
from backhaul._constants import Domain, Status

#: The statuses whose exceptions have the base class BackhaulError.
PLAIN = {Status.OK, Status.STARTED, Status.INTERNAL}


@pytest.mark.parametrize("status", sorted(set(Status) - PLAIN), ids=lambda status: status.name)
def test_every_status_except_ok_started_and_internal_has_a_subclass_of_the_base_exception(status):
    error = _errors.error_for(status)
    assert type(error) is not backhaul.BackhaulError
    assert error.status is status
    assert str(error)


@pytest.mark.parametrize(
    ("status", "builtin"),
    [
        (Status.INVALID_ARGUMENT, ValueError),
        (Status.INVALID_HANDLE, ValueError),
        (Status.NOT_FOUND, LookupError),
        (Status.TIMEOUT, TimeoutError),
        (Status.DESTINATION_EXISTS, FileExistsError),
    ],
)
def test_an_exception_is_an_instance_of_the_matching_built_in_exception(status, builtin):
    assert isinstance(_errors.error_for(status), builtin)


def test_an_unknown_status_of_a_newer_library_becomes_an_exception_of_the_base_class():
    error = _errors.error_for(999, "Something new.")
    assert type(error) is backhaul.BackhaulError
    assert (error.status, str(error)) == (999, "Something new.")


@pytest.mark.parametrize(
    ("status", "family", "wider"),
    [
        (Status.COMPLETED, backhaul.Completed, backhaul.WrongState),
        (Status.DAEMON_UNAVAILABLE, backhaul.DaemonUnavailable, backhaul.EngineError),
        (Status.AUTHENTICATION_REQUIRED, backhaul.AuthenticationRequired, backhaul.TransferError),
    ],
)
def test_the_exception_class_of_a_status_is_a_subclass_of_a_wider_exception_class(status, family, wider):
    error = _errors.error_for(status)
    assert type(error) is family
    assert isinstance(error, wider)


def test_the_exception_for_a_session_in_use_has_the_id_of_the_other_process():
    assert _errors.error_for(Status.IN_USE, domain=Domain.PROCESS, detail=4711).process == 4711


def test_an_error_without_a_message_has_the_text_of_its_status():
    assert str(_errors.error_for(Status.NOT_FOUND)) == "there is no such session, task, challenge or activity"


def test_errors_can_be_pickled():
    error = _errors.error_for(Status.IN_USE, "Held.", domain=Domain.PROCESS, detail=7, index=3)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is backhaul.InUse
    assert vars(copy) == vars(error)
