"""The output of `--json` has the structure and the names of the structs in the C header. A wait record is the stored
record of a time in which a task waits."""

import pytest

from schema import json_fields
from command_line import until

pytestmark = pytest.mark.hosting("daemon")

CONTENT = b"a line of the file\n" * 2_000


@pytest.fixture
def full(backhaul, serve):
    """A store in which every listing command has at least one entry."""
    server = serve({"/a": CONTENT})
    backhaul("configure", "-H", "X-Tag: one", "--quiet-hours", "mon 02:00-02:01")
    backhaul("networks", "Café", "--daily-budget", "500MB")
    backhaul("activities", "set", "catalogue", "--every", "24h", f"{server.url}/a")
    backhaul("register", "--application", "org.example.photos", "/bin/true")
    backhaul("get", f"{server.url}/a")
    backhaul("add", "--suspended", "--unmetered", "yes", "http://127.0.0.1:9/never")
    backhaul("add", "--group", "photos", f"{server.url}/absent")
    until(lambda: len(backhaul.json("events")) == 2, "the ends of the task and its group")
    return backhaul


@pytest.mark.parametrize("words, struct", [
    (["configure"], "bh_session_configuration"),
    (["tasks"], "bh_task_info"),
    (["history"], "bh_task_info"),
    (["info", "1"], "bh_task_info"),
    (["attempts", "1"], "bh_attempt"),
    (["events"], "bh_event"),
    (["sessions"], "bh_session_info"),
    (["applications"], "bh_application_info"),
    (["networks", "Café"], "bh_network"),
    (["activities"], "bh_activity"),
    (["launches"], "bh_launch_info"),
    (["limits"], "bh_limits"),
    (["metrics"], "bh_metrics"),
    (["add", "--suspended", "http://127.0.0.1:9/other"], "bh_enqueued"),
    (["put", "--no-wait", "--suspended", "a", "http://127.0.0.1:9/other"], "bh_enqueued"),
])
def test_each_line_of_json_has_the_fields_of_a_struct_in_the_c_header(full, words, struct):
    lines = full.json(*words)
    assert lines and not json_fields.differences(lines, struct)


def test_conditions_in_json_have_the_fields_of_their_struct_in_the_c_header(full):
    [document] = full.json("conditions")
    assert document["conditions"] and not json_fields.differences(document["conditions"], "bh_condition")


def test_the_json_output_of_the_why_command_has_a_task_and_its_wait_records(full):
    suspended = full.json("tasks", "--state", "suspended")[0]["id"]
    [explained] = full.json("why", suspended)
    assert not json_fields.differences(explained["task"], "bh_task_info")
    assert explained["waits"] and not json_fields.differences(explained["waits"], "bh_wait_record")
    assert explained["began_ms"] == explained["waits"][-1]["began_ms"]
    [group] = [one for one in full.json("why") if one["reason"] == "suspended"]
    assert not set(group) - json_fields.excerpt_keys("bh_hold")
