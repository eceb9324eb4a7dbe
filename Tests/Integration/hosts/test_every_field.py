"""Every field of every struct that a host passes is stored. If the engine ends, the next engine returns the stored
value."""

from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_void_p, cast, pointer, sizeof

import pytest
from backhaul import Status, _ctypes, _numbers
from backhaul._constants import Choice
from backhaul._library import library

CONSUME, EMBEDDED = 1, 2
YES, NO = Choice.YES, Choice.NO


def field_paths(struct, path=""):
    """Yields the paths of a struct's fields. An embedded struct is replaced by its fields: `retry.first_delay_ms`."""
    for name, kind, *_ in struct._fields_:
        if isinstance(kind, type) and issubclass(kind, Structure):
            yield from field_paths(kind, f"{path}{name}.")
        elif name != "struct_size" and not name.startswith("reserved"):
            yield path + name


def fill(struct, values):
    filled = struct()
    filled.struct_size = sizeof(struct)
    for path, value in values.items():
        owner = filled
        *parts, name = path.split(".")
        for part in parts:
            owner = getattr(owner, part)
        setattr(owner, name, value)
    return filled


def read(struct, path):
    for name in path.split("."):
        struct = getattr(struct, name)
    return struct


def items(pairs):
    return cast((_ctypes.bh_header * len(pairs))(*pairs), POINTER(_ctypes.bh_header))


def texts(*words):
    return cast((c_char_p * len(words))(*words), POINTER(c_char_p))


HEADERS = [(b"Accept", b"image/png"), (b"X-Empty", b"")]
#: A value of each option that is a text, or that needs other values than `examples` finds: requests must not contradict
#: themselves.
EXAMPLES = {
    "identifier": b"gallery", "headers": items(HEADERS), "header_count": len(HEADERS), "retry.statuses": b"500-502",
    "retry.longest_delay_ms": 50, "rules.accepted_statuses": b"200,404", "rules.resource_timeout_ms": 86_400_000,
    "rules.maximum_size": 1 << 40, "rules.accepted_types": b"image/*,application/zip",
    "rules.s3_endpoint": b"https://s3.example:9000", "rules.s3_region": b"eu-central-1", "rules.s3_profile": b"work",
    "rules.s3_credential_command": b"print-credentials",
    "constraints.quiet_hours": b"22:00-06:30", "tls.ca_file": b"/etc/ca.pem",
    "tls.client_certificate": b"/etc/client.pem", "tls.client_key": b"/etc/client.key",
    "tls.pinned_public_keys": b"sha256//" + b"A" * 43 + b"=", "tls.minimum_version": 13,
    "proxy.url": b"http://proxy.example:3128", "proxy.user": b"ann", "proxy.password": b"secret",
    "proxy.bypass": b"localhost,.example", "budget.monthly": _numbers.BUDGET_NOTHING, "tolerances": 3,
    "slow_after_ms": 30_000, "slow_pause_ms": 40_000,
}
#: Another value of such an option, for requests that differ.
OTHER_EXAMPLES = {
    "retry.statuses": b"500-503", "retry.longest_delay_ms": 60, "rules.accepted_statuses": b"200,410",
    "rules.resource_timeout_ms": 86_400_001,
    "rules.maximum_size": 1 << 41, "rules.accepted_types": b"image/*",
    "rules.s3_endpoint": b"https://s3.example:9001", "rules.s3_region": b"eu-central-2", "rules.s3_profile": b"home",
    "rules.s3_credential_command": b"print-others",
}


def leaf(struct, path):
    """Returns the type of the field at the path."""
    first, _, rest = path.partition(".")
    kind = {name: kind for name, kind, *_ in struct._fields_}[first]
    return leaf(kind, rest) if rest else kind


def examples(struct, special, choice, number):
    """Maps each option to its value in `special`, or to a constant or a number that nearly all options permit."""
    return {path: special.get(path, choice if leaf(struct, path) is c_int32 else number)
            for path in field_paths(struct)}


CONFIGURATION = examples(_ctypes.bh_session_configuration, EXAMPLES, 2, 5)
POLICY = examples(_ctypes.bh_policy, EXAMPLES, 2, 5)
CONSTRAINTS = {path.partition(".")[2]: value for path, value in POLICY.items() if path.startswith("constraints.")}
LIMITS = {"bytes_per_second": 9_999, "maximum_running_tasks": 11, "maximum_connections": 12,
          "connections_per_origin": 4}
NETWORK = {"name": b"Hotspot", "metered": YES, "month_starts_on": 17, "budget.daily": 1 << 30,
           "budget.monthly": 1 << 34}
ACTIVITY = {"identifier": b"feed", "interval_ms": 7_200_000, "tolerance_ms": 60_000, "repeats": NO,
            "quality_of_service": 3}
LAUNCH = {"program": b"/bin/true", "arguments": texts(b"one", b""), "argument_count": 2,
          "environment": texts(b"A=1", b"B="), "environment_count": 2, "working_directory": b"/usr"}


class Host:
    """An open application whose engine runs in this process. The engine ends when the application is closed."""

    def __init__(self, store):
        self.store = store
        options = fill(_ctypes.bh_application_options, {
            "identifier": b"org.example.fields", "store": str(store).encode(), "hosting": EMBEDDED})
        self.error = fill(_ctypes.bh_error, {})
        self.application = _ctypes.bh_application()
        self.call("bh_application_open", byref(options), 20_000, byref(self.application))

    def call(self, name, *arguments, expected=Status.OK):
        status = getattr(library, name)(*arguments, byref(self.error))
        assert status == expected, (name, Status(status), self.error.message.decode())

    def session(self):
        session = _ctypes.bh_session()
        self.call("bh_session_attach", self.application, b"gallery", CONSUME, 20_000, byref(session))
        return session

    def item(self, name, handle, kind, struct):
        """Returns the only item of a listing."""
        batch = _ctypes.bh_batch()
        self.call(name, handle, 20_000, byref(batch))
        assert library.bh_batch_count(batch) == 1
        return cast(library.bh_batch_item(batch, 0, kind, sizeof(struct)), POINTER(struct)).contents

    def close(self):
        library.bh_application_close(self.application)


@pytest.fixture
def hosts(store):
    opened = []

    def host():
        for earlier in opened:
            earlier.close()
        opened[:] = [Host(store)]
        return opened[0]

    yield host
    for last in opened:
        last.close()


def values(struct, paths):
    """Returns the values of the fields. An array is returned as a list, so that it can be compared."""
    found = {}
    for path in paths:
        value = read(struct, path)
        if path == "headers":
            value = [(value[i].name, value[i].value) for i in range(struct.header_count)]
        elif path in ("arguments", "environment"):
            value = [value[i] for i in range(getattr(struct, f"{path.removesuffix('s')}_count"))]
        found[path] = value
    return found


def kept(given, struct, but=()):
    """Fills the struct, and returns the values that a later engine must return. `given` must have a value for each
    field that is not in `but`."""
    assert set(field_paths(struct)) - set(but) == set(given), "a field has neither a value nor a reason here"
    return values(fill(struct, given), given)


def test_every_field_of_a_configuration_is_stored(hosts):
    struct = _ctypes.bh_session_configuration
    expected = kept(CONFIGURATION, struct)
    first, session = hosts(), _ctypes.bh_session()
    first.call("bh_session_create", first.application, byref(fill(struct, CONFIGURATION)), CONSUME, 20_000,
               byref(session), None)
    later = hosts()
    back = later.item("bh_session_get_configuration", later.session(), 4, struct)
    assert values(back, CONFIGURATION) == expected


def test_every_field_of_the_limits_is_stored(hosts):
    first = hosts()
    expected = kept(LIMITS, _ctypes.bh_limits)
    first.call("bh_store_set_limits", first.application, byref(fill(_ctypes.bh_limits, LIMITS)), 20_000)
    later = hosts()
    assert values(later.item("bh_store_limits", later.application, 11, _ctypes.bh_limits), LIMITS) == expected


def test_every_field_of_the_settings_of_a_network_is_stored(hosts):
    only_read = {"kind", "is_current", "used_today", "used_this_month", "day_ends_ms", "month_ends_ms"}
    expected = kept(NETWORK, _ctypes.bh_network, but=only_read)
    first = hosts()
    first.call("bh_store_set_network", first.application, byref(fill(_ctypes.bh_network, NETWORK)), 20_000)
    later, batch = hosts(), _ctypes.bh_batch()
    later.call("bh_store_networks", later.application, 20_000, byref(batch))
    listed = [cast(library.bh_batch_item(batch, i, 15, sizeof(_ctypes.bh_network)),
                   POINTER(_ctypes.bh_network)).contents for i in range(library.bh_batch_count(batch))]
    assert expected in [values(network, NETWORK) for network in listed]


def test_every_field_of_an_activity_is_stored(hosts):
    # These fields are not compared. A listing does not return the activity's request, and the engine itself sets the
    # other fields.
    not_kept = {"request", "first_ms", "next_ms", "next_ends_ms", "last_started_ms", "last_task", "url"}
    expected = kept(ACTIVITY, _ctypes.bh_activity, but=not_kept)
    first, session = hosts(), _ctypes.bh_session()
    configuration = fill(_ctypes.bh_session_configuration, {"identifier": b"gallery"})
    first.call("bh_session_create", first.application, byref(configuration), CONSUME, 20_000, byref(session), None)
    first.call("bh_session_set_activity", session, byref(fill(_ctypes.bh_activity, ACTIVITY)), 20_000)
    later = hosts()
    back = later.item("bh_session_activities", later.session(), 16, _ctypes.bh_activity)
    assert values(back, ACTIVITY) == expected


def test_every_listed_field_of_a_launch_command_is_stored(hosts):
    not_listed = {"attach_timeout_ms", "first_delay_ms", "longest_delay_ms", "maximum_launches"}
    expected = kept(LAUNCH, _ctypes.bh_launch_command, but=not_listed)
    first = hosts()
    first.call("bh_application_set_launch", first.application, byref(fill(_ctypes.bh_launch_command, LAUNCH)), 20_000)
    later = hosts()
    back = later.item("bh_store_launches", later.application, 8, _ctypes.bh_launch_info)
    assert values(back, LAUNCH) == expected


# If a request has the idempotency key (an identifying text) of a stored request, the engine compares both requests. If
# the engine reports a conflict for a changed field, the engine has stored the field's first value. The engine does not
# compare fields that a function of the library can change later.

DATA = b"any\0bytes"
REQUEST = {
    "url": b"http://127.0.0.1:9/file", "destination": b"/tmp/every-field", "idempotency_key": b"key",
    "headers": items(HEADERS), "header_count": len(HEADERS), "user_data": cast(c_char_p(DATA), c_void_p),
    "user_data_size": len(DATA),
    "method": b"REPORT", "group": b"holiday", "checksum": b"sha-256:" + b"ab" * 32, "expected_size": 4_096,
    "body_file": None, "body": cast(c_char_p(b"body"), c_void_p), "body_size": 4, "parts": None, "part_count": 0,
    "policy": None, "expires_ms": 4_000_000_000_000, "earliest_start_ms": 4_000_000_000_000,
    "latest_start_ms": 4_100_000_000_000, "expected_bytes_received": 9_000, "expected_bytes_sent": 8_000,
    "flags": 1 | 8, "if_exists": 1, "body_source": 0, "refresh": 1, "priority": -7, "mode": 0o600,
    "range_start": 0, "range_size": 0, "after": None, "after_count": 0,
}
#: Another value for each field that no function of the library can change later.
OTHERS = {
    "url": b"http://127.0.0.1:9/other", "headers": items(HEADERS[:1]),
    "user_data": cast(c_char_p(b"ANY\0BYTES"), c_void_p),
    "method": b"PUT", "group": b"work", "checksum": b"sha-256:" + b"cd" * 32, "expected_size": 4_097,
    "body": cast(c_char_p(b"BODY"), c_void_p), "flags": 1, "if_exists": 0, "refresh": 2, "mode": 0o640,
    "expected_bytes_received": 9_001, "expected_bytes_sent": 8_001,
}
#: Another value for each option of a policy that no function of the library can change later.
OTHER_POLICY = {path: value for path, value in examples(_ctypes.bh_policy, OTHER_EXAMPLES, 1, 6).items()
                if path.startswith(("retry.", "rules."))}
MAY_CHANGE = {"earliest_start_ms", "latest_start_ms", "priority"}
LISTED = {*MAY_CHANGE, "url", "idempotency_key", "group", "expected_bytes_received", "expected_bytes_sent"}
#: Fields that the test changes only together with another field, or not at all. `expires_ms` is the time at which
#: headers or the URL must be refreshed.
TOGETHER = {"expires_ms", "header_count", "user_data_size", "body_size", "part_count", "idempotency_key", "destination",
            "body_file", "parts", "body_source", "policy", "range_start", "range_size",
            "after", "after_count"}


def enqueue(host, session, request, expected=Status.OK):
    host.call("bh_session_enqueue", session, byref(request), 1, 20_000, None, expected=expected)
    return host.error.message.decode()


def request_with(changes, policy):
    request = fill(_ctypes.bh_request, {**REQUEST, **changes})
    if "headers" in changes:
        request.header_count = 1
    request.policy = pointer(policy)
    return request


@pytest.fixture
def enqueued(hosts):
    """Stores a request with all values of REQUEST and POLICY. Then starts a new engine, and returns its host."""
    assert set(field_paths(_ctypes.bh_request)) == set(REQUEST)
    first, session = hosts(), _ctypes.bh_session()
    configuration = fill(_ctypes.bh_session_configuration, {"identifier": b"gallery"})
    first.call("bh_session_create", first.application, byref(configuration), CONSUME, 20_000, byref(session), None)
    enqueue(first, session, request_with({}, fill(_ctypes.bh_policy, POLICY)))
    return hosts()


def test_every_field_of_a_request_is_stored(enqueued):
    session = enqueued.session()
    enqueue(enqueued, session, request_with({}, fill(_ctypes.bh_policy, POLICY)))
    assert set(REQUEST) == set(OTHERS) | MAY_CHANGE | TOGETHER
    for name, value in OTHERS.items():
        message = enqueue(enqueued, session, request_with({name: value}, fill(_ctypes.bh_policy, POLICY)),
                          expected=Status.KEY_CONFLICT)
        assert "key" in message, name
    for path, value in OTHER_POLICY.items():
        policy = fill(_ctypes.bh_policy, {**POLICY, path: value})
        enqueue(enqueued, session, request_with({}, policy), expected=Status.KEY_CONFLICT)


def test_the_range_of_a_request_is_stored(enqueued):
    fields = {"url": b"http://127.0.0.1:9/file", "idempotency_key": b"slice", "range_start": 5, "range_size": 7}
    enqueue(enqueued, enqueued.session(), fill(_ctypes.bh_request, fields))
    enqueued.close()
    for changes in ({}, {"range_start": 6}, {"range_size": 8}, {"range_size": 0}):
        later = fill(_ctypes.bh_request, {**fields, **changes})
        host = Host(enqueued.store)
        enqueue(host, host.session(), later, expected=Status.KEY_CONFLICT if changes else Status.OK)
        host.close()


def test_every_field_of_a_dependency_is_stored(enqueued):
    values = {"idempotency_key": b"key", "url": b"url", "body": b"body", "headers": items([(b"X-A", b"header:B")]),
              "header_count": 1, "if_fails": 2}
    assert set(field_paths(_ctypes.bh_dependency)) == {*values, "task_id"}
    others = {"url": b"header:Location", "body": b"json:/a", "headers": items([(b"X-A", b"header:C")]), "if_fails": 1}
    upload = {"url": b"http://127.0.0.1:9/file", "idempotency_key": b"dependent", "body": cast(c_char_p(b""), c_void_p)}
    store = enqueued.store

    def again(changes, expected):
        after = fill(_ctypes.bh_dependency, {**values, **changes})
        host = Host(store)
        enqueue(host, host.session(), fill(_ctypes.bh_request, {**upload, "after": pointer(after), "after_count": 1}),
                expected=expected)
        host.close()

    enqueue(enqueued, enqueued.session(), fill(_ctypes.bh_request, {
        "url": b"http://127.0.0.1:9/file", "idempotency_key": b"create", "body": cast(c_char_p(b""), c_void_p),
        "flags": 1}))
    enqueued.close()
    values["idempotency_key"] = b"create"
    again({}, Status.OK)
    again({}, Status.OK)
    for name, value in others.items():
        again({name: value}, Status.KEY_CONFLICT)


def test_the_listing_of_a_stored_task_has_the_values_of_its_request(enqueued):
    session, batch = enqueued.session(), _ctypes.bh_batch()
    enqueued.call("bh_session_tasks", session, None, 0, 10, 20_000, byref(batch))
    task = cast(library.bh_batch_item(batch, 0, 2, sizeof(_ctypes.bh_task_info)),
                POINTER(_ctypes.bh_task_info)).contents
    assert {name: getattr(task, name) for name in LISTED} == {name: REQUEST[name] for name in LISTED}
    assert values(task.constraints.contents, CONSTRAINTS) == CONSTRAINTS
