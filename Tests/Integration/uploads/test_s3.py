"""Objects of S3: downloads, uploads in one request and in parts, and whose credentials are used."""

import hashlib
import json
import random
import shlex

import pytest

from backhaul import PRIORITY_NOW, BackhaulError, Policy, Status, TaskState, TransferRules
from servers.content import Content
from servers.s3 import ACCESS_KEY, MEBIBYTE, SECRET_KEY, S3Server
from testbed.host import until, wait_until_interrupted

pytestmark = pytest.mark.both_hostings
SMALL = Content(1_000_000)
KEYS = f"[default]\naws_access_key_id={ACCESS_KEY}\naws_secret_access_key={SECRET_KEY}\n"
#: Three parts: 8, 8 and 4 MiB.
LARGE = Content(20 * MEBIBYTE)
PARTS = ["PUT partNumber=1", "PUT partNumber=2", "PUT partNumber=3"]
FINISH = ["GET uploadId", "POST uploadId"]


@pytest.fixture
def server():
    with S3Server() as running:
        yield running


@pytest.fixture
def profiles(place):
    """Returns a function that writes the files of AWS. Returns the environment of a process that reads them."""
    def write(config="", credentials=KEYS):
        (place / "config").write_text(config)
        (place / "credentials").write_text(credentials)
        return {"AWS_CONFIG_FILE": str(place / "config"), "AWS_SHARED_CREDENTIALS_FILE": str(place / "credentials"),
                "AWS_EC2_METADATA_DISABLED": "true"}

    return write


@pytest.fixture
def engine(server, host, profiles):
    """Returns a function that starts a host, whose environment leads to the server."""
    def start(environment=None, **options):
        one = host(environment=environment or profiles())
        one.session(**{"s3_endpoint": server.url, "first_delay_ms": 10, **options})
        return one

    return start


def ended(one):
    [event, _] = one.wait_for()
    return event


def succeeded(one):
    event = ended(one)
    assert event.state is TaskState.SUCCEEDED, event.error_message
    return event


def source(sources, content):
    (sources / "a").write_bytes(content.data)
    return sources / "a"


@pytest.mark.parametrize(("key", "name"), [
    ("a/b.txt", "a/b.txt"), ("a%20b%2Bc%3Fd%25.txt", "a b+c?d%.txt"), ("fotos/%C3%BC", "fotos/ü"),
    ("fotos/ü", "fotos/ü"), ("a+b=c&d~e'f(g)*,;:@!$", "a+b=c&d~e'f(g)*,;:@!$"), ("/a//b/", "/a//b/")])
def test_a_key_of_any_letters_is_downloaded_with_a_right_signature(server, engine, downloads, key, name):
    server.objects["bucket", name] = SMALL.data
    one = engine()
    one.download(f"s3://bucket/{key}", downloads / "file")
    succeeded(one)
    assert (downloads / "file").read_bytes() == SMALL.data


def test_a_small_file_is_one_request(server, engine, sources):
    one = engine()
    one.upload("s3://bucket/a b".replace(" ", "%20"), source(sources, SMALL), headers=(("x-amz-meta-Title", "a  b"),))
    event = succeeded(one)
    assert server.objects == {("bucket", "a b"): SMALL.data}
    assert server.steps() == ["PUT"] and event.http_status == 200


def test_a_large_file_is_sent_in_parts(server, engine, sources):
    one = engine()
    one.upload("s3://bucket/a", source(sources, LARGE), headers=(("Content-Type", "image/png"),))
    succeeded(one)
    assert hashlib.sha256(server.objects["bucket", "a"]).digest() == hashlib.sha256(LARGE.data).digest()
    steps = server.steps()
    assert [steps[0], *sorted(steps[1:4]), *steps[4:]] == ["POST uploads", *PARTS, *FINISH]
    assert server.requests[0][2]["Content-Type"] == "image/png"
    assert "image/png" not in [fields.get("Content-Type") for *_, fields in server.requests[1:]]
    assert server.uploads == {}


def test_an_upload_continues_with_the_part_that_was_in_flight_when_the_engine_was_killed(
        server, engine, host, sources, profiles):
    server.drop_after = [None, 3 * MEBIBYTE]
    one = engine(first_delay_ms=60_000, connections_per_origin=1)
    one.upload("s3://bucket/a", source(sources, LARGE))
    wait_until_interrupted(one)
    one.kill_with_engine()
    again = host(environment=profiles())
    again.attach()
    again.set_priority(PRIORITY_NOW)
    succeeded(again)
    assert server.objects["bucket", "a"] == LARGE.data
    assert server.steps() == ["POST uploads", *PARTS[:2], "GET uploadId", *PARTS[1:], *FINISH]
    assert server.uploads == {}


@pytest.mark.parametrize("connections", [1, 6])
def test_an_upload_in_parts_whose_engine_is_killed_many_times_sends_only_parts_in_flight_again(
        request, server, engine, host, sources, profiles, connections):
    """In the suite soak-uploads of `make soak`, the upload has 1 GiB, and its engine is killed 20 times."""
    content = Content(request.config.getoption("--upload-size") * MEBIBYTE)
    chosen, kills = random.Random(3_051), request.config.getoption("--upload-kills")
    parts, in_flight = content.size // (8 * MEBIBYTE), min(connections, 4)
    pauses = [chosen.randint(1, max(1, parts // kills)) for _ in range(kills)]
    server.stalls_in = pauses[0]
    one = engine(connections_per_origin=connections)
    one.upload("s3://bucket/a", source(sources, content))
    for killed, following in enumerate([*pauses[1:], 0], 1):
        with server.changed:
            assert server.changed.wait_for(lambda count=killed: server.stalled == count, 60)
        server.stalls_in = following
        one.kill_with_engine()
        one = host(environment=profiles())
        one.attach()
        one.set_priority(PRIORITY_NOW)
    succeeded(one)
    assert server.objects["bucket", "a"] == content.data
    sent = sum(step.startswith("PUT") for step in server.steps())
    print(f"{parts} parts, {kills} kills, {sent - parts} parts sent again")
    assert sent <= parts + kills * in_flight
    assert server.uploads == {}


def test_the_list_of_parts_has_several_pages(server, engine, sources):
    server.page = 1
    one = engine(connections_per_origin=1)
    one.upload("s3://bucket/a", source(sources, LARGE))
    succeeded(one)
    assert server.objects["bucket", "a"] == LARGE.data
    assert server.steps() == ["POST uploads", *PARTS, *(["GET uploadId"] * 3), "POST uploadId"]


def test_an_upload_that_the_server_has_forgotten_starts_again(server, engine, sources):
    server.fail("PUT", "partNumber=2", 404, "NoSuchUpload")
    one = engine()
    one.upload("s3://bucket/a", source(sources, LARGE))
    succeeded(one)
    assert server.objects["bucket", "a"] == LARGE.data
    assert server.steps().count("POST uploads") == 2


def test_an_error_in_a_response_with_status_200_is_no_success(server, engine, sources):
    server.fail("POST", "uploadId", 200, "InternalError")
    one = engine(connections_per_origin=1)
    one.upload("s3://bucket/a", source(sources, LARGE))
    succeeded(one)
    assert server.objects["bucket", "a"] == LARGE.data
    assert server.steps() == ["POST uploads", *PARTS, *FINISH, *FINISH]


def test_a_busy_server_gets_the_part_again_later(server, engine, sources):
    server.fail("PUT", "partNumber=2", 503, "SlowDown")
    one = engine(connections_per_origin=1)
    one.upload("s3://bucket/a", source(sources, LARGE))
    succeeded(one)
    assert server.steps() == ["POST uploads", *PARTS[:2], "GET uploadId", *PARTS[1:], *FINISH]


@pytest.mark.parametrize("connections", [1, 4])
def test_the_pause_that_a_busy_server_asks_for_with_one_part_applies_to_all_requests(
        server, engine, sources, connections):
    server.fail("PUT", "partNumber=2", 503, "SlowDown", {"Retry-After": "2"})
    one = engine(connections_per_origin=connections)
    one.upload("s3://bucket/a", source(sources, LARGE))
    succeeded(one)
    assert server.objects["bucket", "a"] == LARGE.data
    steps = server.steps()
    refused, following = steps.index("PUT partNumber=2"), steps.index("GET uploadId")
    assert server.times[following] - server.times[refused] >= 2
    # Only parts that were in flight come before.
    assert set(steps[refused + 1:following]) <= {"PUT partNumber=1", "PUT partNumber=3"}


@pytest.mark.parametrize("content", [SMALL, LARGE], ids=["small", "large"])
def test_an_existing_object_is_not_replaced_if_the_request_has_the_condition(server, engine, sources, content):
    server.objects["bucket", "a"] = b"old"
    one = engine()
    one.upload("s3://bucket/a", source(sources, content), headers=(("If-None-Match", "*"),))
    event = ended(one)
    assert event.state is TaskState.FAILED and event.http_status == 412
    assert b"PreconditionFailed" in event.error_body
    assert server.objects["bucket", "a"] == b"old"
    until(lambda: server.uploads, lambda uploads: not uploads)


def test_an_upload_that_is_cancelled_is_aborted_at_the_server(server, engine, sources):
    server.stalls_in = 2
    # The settings are those of the request, not of the session.
    one = engine(s3_endpoint="http://127.0.0.1:1")
    one.upload("s3://bucket/a", source(sources, LARGE), policy=Policy(rules=TransferRules(s3_endpoint=server.url)))
    until(lambda: server.stalled, lambda count: count == 1)
    one.cancel()
    until(lambda: server.aborted, lambda aborted: len(aborted) == 1)
    assert server.uploads == {} and server.objects == {}


@pytest.mark.parametrize(("status", "code"), [(503, "SlowDown"), (400, "ExpiredToken"), (403, "AccessDenied")])
def test_an_upload_that_is_cancelled_is_aborted_by_the_next_engine_if_the_server_refused_to(
        server, engine, host, sources, profiles, status, code):
    server.stalls_in = 1
    server.fail("DELETE", "uploadId", status, code)
    one = engine()
    one.upload("s3://bucket/a", source(sources, LARGE))
    until(lambda: server.stalled, lambda count: count == 1)
    one.cancel()
    until(server.steps, lambda steps: "DELETE uploadId" in steps)
    until(lambda: server.errors, lambda errors: not errors)
    one.kill_with_engine()
    host(environment=profiles()).attach()
    until(lambda: server.aborted, lambda aborted: len(aborted) == 1)


def test_a_refused_signature_is_a_failure_with_the_words_of_the_server(server, engine, downloads, profiles):
    one = engine(profiles(credentials=f"[default]\naws_access_key_id={ACCESS_KEY}\naws_secret_access_key=wrong-key\n"))
    one.download("s3://bucket/a", downloads / "a")
    event = ended(one)
    assert event.http_status == 403 and b"SignatureDoesNotMatch" in event.error_body


def test_credentials_that_have_expired_are_fetched_again(server, engine, downloads, profiles, place):
    server.objects["bucket", "a"] = SMALL.data
    server.tokens = {"token-2"}
    (place / "count").write_text("")
    command = (f"echo x >> {place}/count; printf '{{\"Version\":1,\"AccessKeyId\":\"{ACCESS_KEY}\",\"SecretAccessKey\":"
               f"\"{SECRET_KEY}\",\"SessionToken\":\"token-%d\"}}' $(wc -l < {place}/count)")
    one = engine(profiles(credentials=""), s3_credential_command=command, first_delay_ms=60_000)
    one.download("s3://bucket/a", downloads / "a")
    succeeded(one)
    assert [fields["x-amz-security-token"] for *_, fields in server.requests] == ["token-1", "token-2"]


def test_the_environment_and_a_profile_are_read_as_the_tools_of_aws_read_them(
        server, engine, downloads, profiles, place):
    server.region = "eu-central-1"
    server.objects["bucket", "a"] = SMALL.data
    config = (f"[default]\nregion = us-west-1\n[profile work] # a comment\nregion = eu-central-1\nservices = local\n"
              f"credential_process = cat {place}/answer\n[services local]\ns3 =\n  endpoint_url = {server.url}\n")
    environment = profiles(config, credentials="")
    (place / "answer").write_text(json.dumps({
        "AccessKeyId": ACCESS_KEY, "SecretAccessKey": SECRET_KEY, "Expiration": "2099-01-01T00:00:00+00:00"}))
    one = engine({**environment, "AWS_PROFILE": "work"}, s3_endpoint=None)
    one.download("s3://bucket/a", downloads / "a")
    succeeded(one)


def test_the_region_that_the_server_names_is_used(server, engine, downloads):
    server.region = "eu-north-1"
    server.objects["bucket", "a"] = SMALL.data
    one = engine()
    one.download("s3://bucket/a", downloads / "a")
    succeeded(one)
    assert len(server.requests) == 2


def answer(**more):
    return {"AccessKeyId": ACCESS_KEY, "SecretAccessKey": SECRET_KEY, "Token": "token",
            "Expiration": "2099-01-01T00:00:00Z", **more}


def test_a_virtual_machine_has_credentials_in_its_metadata(server, engine, downloads, profiles):
    server.objects["bucket", "a"] = SMALL.data
    server.tokens = {"token"}
    roles = "/latest/meta-data/iam/security-credentials/"
    server.metadata = {"/latest/api/token": b"permission", roles: b"role\n", roles + "role": answer(Code="Success")}
    one = engine({**profiles(credentials=""), "AWS_EC2_METADATA_DISABLED": "",
                  "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url})
    one.download("s3://bucket/a", downloads / "a")
    succeeded(one)
    method, _, first = server.metadata_requests[0]
    assert method == "PUT" and first["X-aws-ec2-metadata-token-ttl-seconds"] == "21600"
    # The engine waits a second for each response, so on a busy machine it may ask again.
    asked = [(path, fields["X-aws-ec2-metadata-token"]) for method, path, fields in server.metadata_requests
             if method == "GET"]
    assert {(roles, "permission"), (roles + "role", "permission")} == set(asked)


def test_a_container_has_credentials_at_its_host(server, engine, downloads, profiles, place):
    server.objects["bucket", "a"] = SMALL.data
    server.metadata = {"/container": answer()}
    (place / "authorization").write_text("permission\n")
    one = engine({**profiles(credentials=""), "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url + "/container",
                  "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(place / "authorization")})
    one.download("s3://bucket/a", downloads / "a")
    succeeded(one)
    assert server.metadata_requests[0][2]["Authorization"] == "permission"


def test_a_task_without_credentials_waits_and_says_why(server, engine, downloads, profiles):
    server.objects["bucket", "a"] = SMALL.data
    one = engine(profiles(credentials=""), first_delay_ms=50, longest_delay_ms=50)
    one.download("s3://bucket/a", downloads / "a")
    task = wait_until_interrupted(one)
    assert "there are no credentials for S3" in task.error_message
    profiles()
    succeeded(one)


def test_credentials_with_a_line_end_are_not_sent(server, engine, downloads, profiles):
    server.objects["bucket", "a"] = SMALL.data
    answered = json.dumps({
        "AccessKeyId": ACCESS_KEY, "SecretAccessKey": SECRET_KEY, "SessionToken": "t\r\n\r\nPUT /x HTTP/1.1"})
    one = engine(profiles(credentials=""), s3_credential_command=f"printf %s {shlex.quote(answered)}",
                 first_delay_ms=60_000)
    one.download("s3://bucket/a", downloads / "a")
    task = wait_until_interrupted(one)
    assert "the session token from the command for credentials has a line end" in task.error_message
    assert server.requests == []


def test_secrets_are_neither_stored_nor_shown(server, engine, downloads, store):
    server.objects["bucket", "a"] = SMALL.data
    one = engine()
    one.download("s3://bucket/a", downloads / "a")
    succeeded(one)
    one.kill_with_engine()
    assert not any(SECRET_KEY.encode() in path.read_bytes() for path in store.rglob("*") if path.is_file())


@pytest.mark.parametrize(("url", "words"), [
    ("s3://bucket", "names no object"), ("s3://b/a", "names no bucket"), ("s3://bucket/a?x=1", "has a query"),
    ("s3://bucket/a/../b", "a segment . or .."), ("s3://bucket/%zz", "percent sign")])
def test_a_wrong_url_is_refused_at_the_enqueue(engine, downloads, url, words):
    one = engine()
    with pytest.raises(BackhaulError) as error:
        one.download(url, downloads / "a")
    assert error.value.status is Status.INVALID_ARGUMENT and words in str(error.value)
