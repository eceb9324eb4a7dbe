"""A server of S3, as far as the tests need it: objects and multipart uploads. Another implementation than the library's
(botocore) checks each signature. The server can drop connections, forget uploads, respond with errors, and refuse
credentials that have expired. The same server has the metadata of a virtual machine (IMDSv2) and of a container."""

import hashlib
import json
import secrets
import threading
import time
from contextlib import suppress
from urllib.parse import parse_qsl, unquote_to_bytes, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from .handling import Handler, HandlingServer

ACCESS_KEY, SECRET_KEY = "AKIAEXAMPLE", "secret/Key+Example"
MEBIBYTE = 1 << 20


class _Handler(Handler):
    @property
    def query(self):
        return dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))

    @property
    def name(self):
        bucket, _, key = unquote_to_bytes(urlsplit(self.path).path).decode().removeprefix("/").partition("/")
        return bucket, key

    def error(self, status, code, fields=None):
        text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>a text &amp; more</Message></Error>"
        self.close_connection = True
        self.reply(status, fields, text.encode())

    def xml(self, text):
        self.reply(200, {"Content-Type": "application/xml"}, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode())

    def read_body(self):
        """Returns the body of the request; None if the connection must be closed instead."""
        rest = int(self.headers.get("Content-Length", "0"))
        limit = self.owner.drop_after.pop(0) if self.owner.drop_after and rest else None
        body = bytearray()
        while rest and (limit is None or len(body) < limit):
            chunk = self.rfile.read1(min(rest, 65_536))
            if not chunk:
                break
            body += chunk
            rest -= len(chunk)
        if rest or self.stall():
            self.close_connection = True
            return None
        return bytes(body)

    def stall(self):
        """Waits for the end of the client, if this is the request for a part that stalls."""
        if "partNumber" not in self.query:
            return False
        with self.owner.changed:
            if self.owner.stalls_in == 0:
                return False
            self.owner.stalls_in -= 1
            if self.owner.stalls_in > 0:
                return False
            self.owner.stalled += 1
            self.owner.changed.notify_all()
        with suppress(ConnectionError):
            while self.rfile.read(1):
                pass
        return True

    def is_signed(self):
        """Computes the signature again, with the signed header fields."""
        given = self.headers.get("Authorization", "")
        if "SignedHeaders=" not in given:
            return False
        names = given.partition("SignedHeaders=")[2].partition(",")[0].split(";")
        request = AWSRequest(self.command, self.owner.url + self.path,
                             headers={name: self.headers[name] for name in names if name != "host"})
        request.context.update(timestamp=self.headers["X-Amz-Date"], payload_signing_enabled=True)
        request.headers["Host"] = self.headers["Host"]
        signer = S3SigV4Auth(Credentials(ACCESS_KEY, SECRET_KEY), "s3", self.owner.region)
        canonical = signer.canonical_request(request)
        signature = signer.signature(signer.string_to_sign(request, canonical), request)
        return given.endswith(f"Signature={signature}") and {"host", "x-amz-date", "x-amz-content-sha256"} <= {*names}

    def handle_request(self):
        if self.path.startswith(("/latest/", "/container")):
            self.serve_metadata()
            return
        number = self.query.get("partNumber")
        with self.owner.changed:
            self.owner.requests.append((self.command, self.path, dict(self.headers.items())))
            self.owner.times.append(time.monotonic())
            self.owner.note_part(number and 1)
            self.owner.changed.wait_for(lambda: number not in self.owner.held)
        try:
            body = self.read_body()
        finally:
            # The client can send its next part as soon as it has the response, so this request is counted before.
            with self.owner.changed:
                self.owner.note_part(number and -1)
        if body is not None:
            self.respond(body)
            with self.owner.changed:
                self.owner.changed.notify_all()

    def respond(self, body):
        with self.owner.changed:
            for index, (matches, *answer) in enumerate(self.owner.errors):
                if matches(self):
                    del self.owner.errors[index]
                    return self.error(*answer)
            region = self.headers.get("Authorization", "").split("/")[2:3]
            if region and region != [self.owner.region]:
                return self.error(400, "AuthorizationHeaderMalformed", {"x-amz-bucket-region": self.owner.region})
            if not self.is_signed():
                return self.error(403, "SignatureDoesNotMatch")
            token = self.headers.get("X-Amz-Security-Token")
            if self.owner.tokens is not None and token not in self.owner.tokens:
                return self.error(400, "ExpiredToken")
            if hashlib.sha256(body).hexdigest() != self.headers["X-Amz-Content-Sha256"]:
                return self.error(400, "XAmzContentSHA256Mismatch")
            return getattr(self, f"serve_{self.command}")(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request

    def serve_GET(self, _):
        if "uploadId" in self.query:
            return self.list_parts()
        body = self.owner.objects.get(self.name)
        if body is None:
            return self.error(404, "NoSuchKey")
        fields = {"ETag": f'"{hashlib.md5(body).hexdigest()}"', "Accept-Ranges": "bytes"}
        wanted = self.headers.get("Range")
        if wanted is None:
            return self.reply(200, fields, body)
        start = int(wanted.removeprefix("bytes=").rstrip("-"))
        return self.reply(206, {**fields, "Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}, body[start:])

    serve_HEAD = serve_GET

    def serve_PUT(self, body):
        if "partNumber" in self.query:
            upload = self.owner.uploads.get(self.query["uploadId"])
            if upload is None:
                return self.error(404, "NoSuchUpload")
            upload[int(self.query["partNumber"])] = body
        elif self.headers.get("If-None-Match") == "*" and self.name in self.owner.objects:
            return self.error(412, "PreconditionFailed")
        else:
            self.owner.objects[self.name] = body
        return self.reply(200, {"ETag": f'"{hashlib.md5(body).hexdigest()}"'})

    def serve_POST(self, body):
        if "uploads" in self.query:
            # An id as that of AWS, with letters that a URL cannot have.
            identifier = secrets.token_urlsafe(8) + "/+="
            self.owner.uploads[identifier] = {}
            return self.xml(f"<InitiateMultipartUploadResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>"
                            f"<UploadId>{identifier}</UploadId></InitiateMultipartUploadResult>")
        upload = self.owner.uploads.get(self.query["uploadId"])
        if upload is None:
            return self.error(404, "NoSuchUpload")
        if self.headers.get("If-None-Match") == "*" and self.name in self.owner.objects:
            return self.error(412, "PreconditionFailed")
        space = "{http://s3.amazonaws.com/doc/2006-03-01/}"
        parts = []
        for part in ElementTree.fromstring(body):
            number, tag = int(part.findtext(f"{space}PartNumber")), part.findtext(f"{space}ETag")
            if tag != f'"{hashlib.md5(upload.get(number, b"")).hexdigest()}"':
                return self.error(400, "InvalidPart")
            parts.append(upload[number])
        if any(len(part) < 5 * MEBIBYTE for part in parts[:-1]):
            return self.error(400, "EntityTooSmall")
        self.owner.objects[self.name] = b"".join(parts)
        del self.owner.uploads[self.query["uploadId"]]
        return self.xml("<CompleteMultipartUploadResult><ETag>&quot;a-1&quot;</ETag></CompleteMultipartUploadResult>")

    def serve_DELETE(self, _):
        if self.owner.uploads.pop(self.query.get("uploadId"), None) is None:
            return self.error(404, "NoSuchUpload")
        self.owner.aborted.append(self.query["uploadId"])
        return self.reply(204)

    def list_parts(self):
        upload = self.owner.uploads.get(self.query["uploadId"])
        if upload is None:
            return self.error(404, "NoSuchUpload")
        marker = int(self.query.get("part-number-marker", "0"))
        numbers = sorted(number for number in upload if number > marker)
        # As MinIO: without a limit, a list has all parts.
        shown = numbers[:min(self.owner.page, int(self.query.get("max-parts", "10000")))]
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber>"
            f"<ETag>{escape(chr(34) + hashlib.md5(upload[number]).hexdigest() + chr(34))}</ETag>"
            f"<Size>{len(upload[number])}</Size></Part>" for number in shown)
        return self.xml(f"<ListPartsResult><IsTruncated>{str(len(numbers) > len(shown)).lower()}</IsTruncated>"
                        f"{parts}</ListPartsResult>")

    def serve_metadata(self):
        self.owner.metadata_requests.append((self.command, self.path, dict(self.headers.items())))
        body = self.owner.metadata.get(self.path)
        if body is None:
            return self.reply(404)
        return self.reply(200, body=body if isinstance(body, bytes) else json.dumps(body).encode())


class S3Server(HandlingServer):
    """`http://127.0.0.1:PORT/BUCKET/KEY`.

    - `drop_after`: a list with one number for each request with a body: after this number of bytes, the connection is
      closed. None: the request is read whole. If the list is empty, all further requests are read whole.
    - `errors`: a list of (predicate of a request, status, code, header fields). The first error whose predicate is true
      is the response, one time.
    - `times`: when each request came.
    - `tokens`: the session tokens that are accepted; None: requests have no token.
    - `region`: the region for which requests must be signed.
    - `page`: the most parts that a list has.
    - `held`: the numbers of parts, as texts, whose bodies are not read for now (`release`).
    - `in_flight`: how many requests for parts have no response yet. `most_in_flight`: the most at the same time.
    - `stalls_in`: the number of the next request for a part that gets no response. The server reads the part, and drops
      it when the client has ended. `stalled`: how many requests got no response.
    """

    handler = _Handler

    def __init__(self):
        self.drop_after, self.errors, self.tokens = [], [], None
        self.region, self.page = "us-east-1", 10_000
        self.stalls_in, self.stalled = 0, 0
        self.held, self.in_flight, self.most_in_flight = set(), 0, 0
        self.objects, self.uploads, self.requests, self.times, self.aborted = {}, {}, [], [], []
        self.metadata, self.metadata_requests = {}, []
        self.changed = threading.Condition()

    def fail(self, method, part, status, code, fields=None):
        """Responds to the next request with the method, whose URL has this text, with an error."""
        self.errors.append((lambda request: request.command == method and part in request.path, status, code, fields))

    def release(self, *numbers):
        """Reads the bodies of these parts; without numbers, of all."""
        with self.changed:
            self.held = self.held - set(numbers) if numbers else set()
            self.changed.notify_all()

    def note_part(self, change):
        """Counts a request for a part that begins or ends. The caller holds the lock."""
        self.in_flight += change or 0
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.changed.notify_all()

    def wait_until(self, condition):
        with self.changed:
            assert self.changed.wait_for(condition, 60), (self.steps(), self.in_flight)

    def parts(self):
        """The numbers of the parts of the unfinished uploads."""
        return {number for upload in self.uploads.values() for number in upload}

    def steps(self):
        """What the requests were, such as "PUT partNumber=1"."""
        names = []
        for method, url, _ in self.requests:
            query = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
            number = f"={query['partNumber']}" if "partNumber" in query else ""
            kind = next((key for key in ("partNumber", "uploads", "uploadId") if key in query), "")
            names.append(f"{method} {kind}{number}".strip())
        return names
