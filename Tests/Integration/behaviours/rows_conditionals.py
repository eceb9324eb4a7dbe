"""Conditions, digests and sizes: RFC 9110, section 13; RFC 9530."""

import base64
import hashlib

from behaviours.script import MODIFIED, Answer, Becomes, Content, Row, rest, whole

FILE, OTHER = Content(), Content(seed=2)
GOOD = Becomes(file=FILE.data)
WRONG = "sha-256:" + "0" * 64


def field_of(data, algorithm="sha-256"):
    digest = hashlib.new(algorithm.replace("-", ""), data).digest()
    return f"{algorithm}=:{base64.b64encode(digest).decode()}:"


ROWS = [
    Row("checksum-right", "sends the bytes that were asked for by their digest: the task succeeds",
        {"file": (whole(FILE),)}, GOOD, request={"checksum": FILE.sha256}),
    Row("checksum-512", "sends the bytes that were asked for by SHA-512: the task succeeds", {"file": (whole(FILE),)},
        GOOD, request={"checksum": "sha-512:" + hashlib.sha512(FILE.data).hexdigest()}),
    Row("checksum-wrong", "always sends other bytes: after a second try from zero it fails by name, without a file",
        {"file": (whole(OTHER),)}, Becomes("failed", "CHECKSUM_MISMATCH"), request={"checksum": FILE.sha256},
        asked=({"range": None}, {"range": None})),
    Row("checksum-mended", "sends other bytes once: the second try is the file", {"file": (whole(OTHER), whole(FILE))},
        GOOD, request={"checksum": FILE.sha256}, asked=({}, {"range": None})),
    Row("checksum-resumed", "drops in the middle: the digest is that of all bytes",
        {"file": (whole(FILE, drop_after=30_000), rest(FILE))}, GOOD, request={"checksum": FILE.sha256}),
    Row("size-right", "sends as many bytes as expected: the task succeeds", {"file": (whole(FILE),)}, GOOD,
        request={"expected_size": len(FILE)}),
    Row("size-wrong", "announces another size than expected: the task fails by name", {"file": (whole(FILE),)},
        Becomes("failed", "SIZE_MISMATCH"), request={"expected_size": 5}),
    Row("size-wrong-chunked", "sends another size than expected without announcing it: the task fails by name",
        {"file": (whole(FILE, framing="chunked"),)}, Becomes("failed", "SIZE_MISMATCH"), request={"expected_size": 5}),
    Row("repr-digest-right", "sends the right Repr-Digest: the task succeeds",
        {"file": (whole(FILE, headers={"Repr-Digest": field_of(FILE.data)}),)}, GOOD, source="RFC 9530, 3"),
    Row("repr-digest-wrong", "always sends a Repr-Digest of other bytes: the task fails by name",
        {"file": (whole(FILE, headers={"Repr-Digest": field_of(OTHER.data)}),)}, Becomes("failed", "CHECKSUM_MISMATCH"),
        source="RFC 9530, 3"),
    Row("repr-digest-wrong-once", "sends a Repr-Digest of other bytes once: it is tried again from zero",
        {"file": (whole(FILE, headers={"Repr-Digest": field_of(OTHER.data)}), whole(FILE))}, GOOD),
    Row("repr-digest-ignored", "sends a wrong Repr-Digest to a task that ignores it: the task succeeds",
        {"file": (whole(FILE, headers={"Repr-Digest": field_of(OTHER.data)}),)}, GOOD,
        request={"ignores_digests": True}),
    Row("repr-digest-unknown", "sends a Repr-Digest of an algorithm that nobody knows: it is passed over",
        {"file": (whole(FILE, headers={"Repr-Digest": "whirl=:AAAA:"}),)}, GOOD),
    Row("repr-digest-several", "sends several digests, one of them known: that one counts",
        {"file": (whole(FILE, headers={"Repr-Digest": "whirl=:AAAA:, " + field_of(FILE.data, "sha-512")}),)}, GOOD),
    Row("repr-digest-broken", "sends a Repr-Digest that is none: it is passed over",
        {"file": (whole(FILE, headers={"Repr-Digest": "sha-256=oops"}),)}, GOOD),
    Row("content-digest-wrong", "always sends a Content-Digest of other bytes: the task fails by name",
        {"file": (whole(FILE, headers={"Content-Digest": field_of(OTHER.data)}),)},
        Becomes("failed", "CHECKSUM_MISMATCH"), source="RFC 9530, 2"),
    Row("content-digest-of-part", "sends a Content-Digest of the part with 206: it is no digest of the file",
        {"file": (whole(FILE, drop_after=30_000), lambda seen: _part(seen))}, GOOD, source="RFC 9530, 2"),
    Row("named-plain", "sends a file name: the file has it", {"file": (whole(
        FILE, headers={"Content-Disposition": 'attachment; filename="report.pdf"'}),)}, Becomes(file=FILE.data,
        says="report.pdf"),
        request={"named_by_server": True}, source="RFC 6266"),
    Row("named-extended", "sends an extended file name beside a plain one: the extended one counts",
        {"file": (whole(FILE, headers={
            "Content-Disposition": "attachment; filename=\"x.pdf\"; filename*=UTF-8''na%C3%AFve.pdf"}),)},
        Becomes(file=FILE.data, says="naïve.pdf"), request={"named_by_server": True}, source="RFC 8187"),
    Row("named-with-path", "sends a file name with a path: only its last part counts",
        {"file": (whole(FILE, headers={"Content-Disposition": 'attachment; filename="../../etc/passwd"'}),)},
        Becomes(file=FILE.data, says="passwd"), request={"named_by_server": True}),
    Row("named-by-url", "sends no file name: that of the URL counts", {"file": (whole(FILE),)},
        Becomes(file=FILE.data, says="file"), request={"named_by_server": True}),
    Row("last-modified-only", "sends Last-Modified alone: the file is as good", {
        "file": (whole(FILE, etag=None, modified=MODIFIED),)}, GOOD),
    Row("error-body", "explains its refusal: the event has the start of it", {"file": (Answer(403, {}, b"because"),)},
        Becomes("failed", "HTTP_STATUS", 403)),
]


def _part(seen):
    answer = rest(FILE)(seen)
    return answer.but(headers={**answer.headers, "Content-Digest": field_of(answer.body)})
