"""Checksums, digests, sizes and file names: RFC 9530; RFC 6266."""

# Each row is one test of the engine with a server. A row has a name, a text for docs/http.md, the responses of the
# server, the expected end of the task, and the expected requests (`asked`). In the text, the words before the colon say
# what the server does, and the words after the colon say what follows. "Drops" means that the server ends the
# connection before it has sent the whole body.

import base64
import hashlib

from behaviours.row import MODIFIED, Content, Expected, Response, Row, rest, whole

FILE, OTHER = Content(), Content(seed=2)
GOOD = Expected(file=FILE.data)
WRONG = "sha-256:" + "0" * 64


def field_of(data, algorithm="sha-256"):
    digest = hashlib.new(algorithm.replace("-", ""), data).digest()
    return f"{algorithm}=:{base64.b64encode(digest).decode()}:"


ROWS = [
    Row("checksum-right", "sends bytes that match the task's SHA-256 checksum: the task succeeds",
        {"file": (whole(FILE),)}, GOOD, request={"checksum": FILE.sha256}),
    Row("checksum-512", "sends bytes that match the task's SHA-512 checksum: the task succeeds",
        {"file": (whole(FILE),)},
        GOOD, request={"checksum": "sha-512:" + hashlib.sha512(FILE.data).hexdigest()}),
    Row("checksum-wrong", "always sends bytes that do not match the task's checksum: the task starts over one time, "
        "then fails with `BH_CHECKSUM_MISMATCH` and makes no file",
        {"file": (whole(OTHER),)}, Expected("failed", "CHECKSUM_MISMATCH"), request={"checksum": FILE.sha256},
        asked=({"range": None}, {"range": None})),
    Row("checksum-second-attempt", "first sends bytes that do not match the task's checksum, then the right bytes: the "
        "task starts over, and succeeds",
        {"file": (whole(OTHER), whole(FILE))},
        GOOD, request={"checksum": FILE.sha256},
        asked=({"pragma": None}, {"range": None, "cache-control": "no-cache", "pragma": "no-cache"})),
    Row("checksum-resumed", "drops, then sends the rest: the task verifies the checksum of all bytes",
        {"file": (whole(FILE, drop_after=30_000), rest(FILE))}, GOOD, request={"checksum": FILE.sha256}),
    Row("size-right", "sends as many bytes as the task's `expected_size`: the task succeeds",
        {"file": (whole(FILE),)}, GOOD,
        request={"expected_size": len(FILE)}),
    Row("size-wrong", "announces a size that differs from the task's `expected_size`: the task fails with "
        "`BH_SIZE_MISMATCH`",
        {"file": (whole(FILE),)},
        Expected("failed", "SIZE_MISMATCH"), request={"expected_size": 5}),
    Row("size-wrong-chunked", "announces no size, and sends more bytes than the task's `expected_size`: the task fails "
        "with `BH_SIZE_MISMATCH`",
        {"file": (whole(FILE, framing="chunked"),)}, Expected("failed", "SIZE_MISMATCH"), request={"expected_size": 5}),
    Row("repr-digest-right", "sends the right Repr-Digest: the task succeeds",
        {"file": (whole(FILE, headers={"Repr-Digest": field_of(FILE.data)}),)}, GOOD, source="RFC 9530, 3"),
    Row("repr-digest-wrong", "always sends a Repr-Digest that does not match the bytes: the task fails with "
        "`BH_CHECKSUM_MISMATCH`",
        {"file": (whole(FILE, headers={"Repr-Digest": field_of(OTHER.data)}),)},
        Expected("failed", "CHECKSUM_MISMATCH"),
        source="RFC 9530, 3"),
    Row("repr-digest-wrong-once", "sends a wrong Repr-Digest in its first response: the task starts over, and succeeds",
        {"file": (whole(FILE, headers={"Repr-Digest": field_of(OTHER.data)}), whole(FILE))}, GOOD),
    Row("repr-digest-ignored", "sends a wrong Repr-Digest to a task that ignores digests: the task succeeds",
        {"file": (whole(FILE, headers={"Repr-Digest": field_of(OTHER.data)}),)}, GOOD,
        request={"ignores_digests": True}),
    Row("repr-digest-unknown", "sends a Repr-Digest of an unknown algorithm: the digest is ignored",
        {"file": (whole(FILE, headers={"Repr-Digest": "whirl=:AAAA:"}),)}, GOOD),
    Row("repr-digest-several", "sends two digests, and the engine knows the algorithm of only one: the task verifies "
        "this digest",
        {"file": (whole(FILE, headers={"Repr-Digest": "whirl=:AAAA:, " + field_of(FILE.data, "sha-512")}),)}, GOOD),
    Row("repr-digest-broken", "sends an invalid Repr-Digest: the digest is ignored",
        {"file": (whole(FILE, headers={"Repr-Digest": "sha-256=oops"}),)}, GOOD),
    Row("content-digest-wrong", "always sends a Content-Digest that does not match the bytes: the task fails with "
        "`BH_CHECKSUM_MISMATCH`",
        {"file": (whole(FILE, headers={"Content-Digest": field_of(OTHER.data)}),)},
        Expected("failed", "CHECKSUM_MISMATCH"), source="RFC 9530, 2"),
    Row("content-digest-of-part", "sends a part of the file with 206, and the Content-Digest of this part: the digest "
        "is not compared with the whole file",
        {"file": (whole(FILE, drop_after=30_000), lambda seen: _part(seen))}, GOOD, source="RFC 9530, 2"),
    Row("named-plain", "sends a file name to a task with `named_by_server`: the file gets this name", {"file": (whole(
        FILE, headers={"Content-Disposition": 'attachment; filename="report.pdf"'}),)}, Expected(file=FILE.data,
        message="report.pdf"),
        request={"named_by_server": True}, source="RFC 6266"),
    Row("named-extended", "sends an extended file name (`filename*`) and a plain one: the file gets the extended name",
        {"file": (whole(FILE, headers={
            "Content-Disposition": "attachment; filename=\"x.pdf\"; filename*=UTF-8''na%C3%AFve.pdf"}),)},
        Expected(file=FILE.data, message="naïve.pdf"), request={"named_by_server": True}, source="RFC 8187"),
    Row("named-with-path", "sends a path as file name: the file gets the last component of the path",
        {"file": (whole(FILE, headers={"Content-Disposition": 'attachment; filename="../../etc/passwd"'}),)},
        Expected(file=FILE.data, message="passwd"), request={"named_by_server": True}),
    Row("named-by-url", "sends no file name to a task with `named_by_server`: the file gets the last component of the "
        "URL's path", {"file": (whole(FILE),)},
        Expected(file=FILE.data, message="file"), request={"named_by_server": True}),
    Row("last-modified-only", "sends Last-Modified without an ETag: the task succeeds", {
        "file": (whole(FILE, etag=None, modified=MODIFIED),)}, GOOD),
    Row("error-body", "responds with an error status and a body: the event has the first 4 KiB of this body",
        {"file": (Response(403, {}, FILE.data),)},
        Expected("failed", "HTTP_STATUS", 403, error_body=FILE.data[:4_096]), asked=({},)),
]


def _part(seen):
    response = rest(FILE)(seen)
    return response.with_changes(headers={**response.headers, "Content-Digest": field_of(response.body)})
