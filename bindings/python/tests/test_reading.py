"""Structs of the library are converted to Python objects with the right values.

A challenge is a demand for a credential, such as a password. A launch is the start of a program by the engine,
because sessions need the program.
"""

from ctypes import POINTER, Structure, c_char_p, c_uint64, cast, pointer, sizeof

from backhaul import (
    ApplicationInfo,
    Attention,
    ChallengeKind,
    Hosting,
    LaunchState,
    Reason,
    Scheme,
    TaskState,
    _ctypes,
    _numbers,
    _reading,
    _reading_transfers,
)


def texts(*values):
    return (c_char_p * len(values))(*values)


def test_the_challenge_of_an_event_is_read():
    raw = _ctypes.bh_event(sizeof(_ctypes.bh_event), 5, kind=3)
    asked = _ctypes.bh_challenge(
        sizeof(_ctypes.bh_challenge), 7, 2, 1 | 4 | 32, b"http://proxy:3128", b"Staff only", failures=2, time_ms=1_000,
        waiting_tasks=40,
    )
    raw.challenge = pointer(asked)
    event = _reading._event(raw)
    assert event.is_challenge and not event.is_task_ended and event.state is None
    challenge = event.challenge
    assert (challenge.id, challenge.kind, challenge.origin) == (7, ChallengeKind.PROXY, "http://proxy:3128")
    assert (challenge.realm, challenge.failures, challenge.waiting_tasks) == ("Staff only", 2, 40)
    # The flag 32 is a scheme that only a newer library knows. This flag does not affect the other schemes.
    assert Scheme.BASIC in challenge.schemes and Scheme.DIGEST in challenge.schemes
    assert challenge.time.timestamp() == 1


def test_a_challenge_event_without_a_challenge_is_read():
    assert _reading._event(_ctypes.bh_event(sizeof(_ctypes.bh_event), 5, kind=3)).challenge is None


def test_progress_is_read_with_a_known_and_with_an_unknown_size():
    size = sizeof(_ctypes.bh_progress)
    known = _reading._progress(_ctypes.bh_progress(size, 3, 2, 0, 50, 200, 10))
    assert (known.task_id, known.state, known.reason, known.fraction) == (3, TaskState.RUNNING, Reason.NONE, 0.25)
    unknown = _reading._progress(_ctypes.bh_progress(size, 3, 1, 8, 50, _numbers.SIZE_UNKNOWN, 0))
    assert (unknown.size, unknown.fraction, unknown.reason) == (None, None, Reason.CREDENTIAL)
    assert _reading._progress(_ctypes.bh_progress(size, 3, 2, 0, 0, 0, 0)).fraction == 1.0


def test_a_registered_launch_command_is_read():
    arguments, additions = texts(b"/app.py", b""), texts(b"A=b=c", b"EMPTY=")
    raw = _ctypes.bh_launch_info(
        sizeof(_ctypes.bh_launch_info), b"org.example.a", b"/bin/a", cast(arguments, POINTER(c_char_p)), 2,
        cast(additions, POINTER(c_char_p)), 2, None, 3, 8, started_ms=2_000, error_message=b"it does not exist",
    )
    info = _reading._launch_info(raw)
    assert (info.application, info.program, info.arguments) == ("org.example.a", "/bin/a", ("/app.py", ""))
    assert info.environment == {"A": "b=c", "EMPTY": ""}
    assert (info.state, info.launches, info.process_id) == (LaunchState.GAVE_UP, 8, None)
    assert (info.next_launch, info.started.timestamp(), info.working_directory) == (None, 2, None)
    assert info.error_message == "it does not exist"


def test_an_application_is_read_from_c():
    raw = _ctypes.bh_application_info(
        sizeof(_ctypes.bh_application_info), b"org.example.a", sessions=2, live_tasks=2**40, running_tasks=3, events=4,
        hosts=5, has_launch_command=True)
    info = _reading._application_info(raw)
    assert info == ApplicationInfo("org.example.a", 2, 2**40, 3, 4, 5, True)


class NewerInfo(Structure):
    """A struct of a newer library. It has one more field at its end."""

    _fields_ = [("known", _ctypes.bh_session_info), ("new", c_uint64)]


def test_the_sessions_of_a_launch_are_read_even_if_a_newer_library_has_larger_structs():
    items = [NewerInfo(_ctypes.bh_session_info(sizeof(NewerInfo), name, attention=2, open_challenges=4))
             for name in (b"one", b"two")]
    pointers = (POINTER(_ctypes.bh_session_info) * 2)(*(pointer(item.known) for item in items))
    raw = _ctypes.bh_launch(sizeof(_ctypes.bh_launch), 12, 3, 2, pointers, len(pointers))
    launch = _reading._launch(raw)
    assert (launch.id, launch.launches, launch.attention) == (12, 3, Attention.FINISHED)
    assert [(info.identifier, info.open_challenges) for info in launch.sessions] == [("one", 4), ("two", 4)]


def test_a_launch_without_sessions_is_read():
    assert _reading._launch(_ctypes.bh_launch(sizeof(_ctypes.bh_launch), 12, 1, 0, None, 0)).sessions == ()


def test_the_description_of_an_engine_is_read():
    raw = _ctypes.bh_engine_info(sizeof(_ctypes.bh_engine_info), 42, (1 << 16) | (2 << 8) | 3, 1, 1_000, b"/s", 9, True)
    engine = _reading._engine(raw)
    assert (engine.process_id, engine.version, engine.hosting) == (42, "1.2.3", Hosting.DAEMON)
    assert (engine.store, engine.shares_control_group, engine.connections) == ("/s", True, 9)
    assert engine.started.timestamp() == 1


def test_the_consumer_fields_and_launch_fields_of_a_session_are_read():
    raw = _ctypes.bh_session_info(
        sizeof(_ctypes.bh_session_info), b"s", consumer_stopped_ms=5_000, waiting_consumers=2, launch_state=1,
        next_launch_ms=9_000, attention=8 | 4,
    )
    info = _reading._session_info(raw)
    assert (info.consumer_stopped.timestamp(), info.next_launch.timestamp()) == (5, 9)
    assert (info.waiting_consumers, info.launch_state) == (2, LaunchState.DUE)
    assert info.attention == Attention.YIELD | Attention.CHALLENGE


def test_the_choices_yes_and_no_are_read_as_true_and_false():
    raw = _ctypes.bh_session_configuration(
        sizeof(_ctypes.bh_session_configuration), b"s", sends_launch_events=1, asks_for_credentials=2,
        launch_if_stopped_ms=7,
    )
    read = _reading_transfers._configuration(raw)
    assert (read.sends_launch_events, read.asks_for_credentials, read.launch_if_stopped_ms) == (True, False, 7)


def test_sentences_for_users_have_the_names_of_python():
    raw = _ctypes.bh_task_info(
        sizeof(_ctypes.bh_task_info), 1, reason_text=b"waits until earliest_start_ms", error_message=b"url is NULL"
    )
    info = _reading._task(raw)
    assert (info.reason_text, info.error_message) == ("waits until earliest_start", "url is None")
    running = _reading._task(_ctypes.bh_task_info(sizeof(_ctypes.bh_task_info), 1))
    assert (running.reason_text, running.error_message) == (None, None)
