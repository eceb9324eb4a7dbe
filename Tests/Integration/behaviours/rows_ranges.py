"""Ranges and resumption: RFC 9110, sections 13.1.5, 14 and 15.3.7."""

# A row has a name, a text for docs/http.md, the responses of the server, the expected end of the task, and the expected
# requests (`asked`). "Drops" means that the server ends the connection inside the body.

from behaviours.row import MODIFIED, UNCHANGED, Content, Expected, Response, Row, redirect, rest, unsatisfiable, whole

FILE, OTHER = Content(), Content(seed=2)
#: The offset at which the server of these rows cuts off the first response.
CUT = 40_000
DROPPED = whole(FILE, drop_after=CUT)
GOOD = Expected(file=FILE.data)


def first(*then, **first_response):
    """Returns a script whose first response is cut off. The given responses follow the first response."""
    return {"file": (whole(FILE, drop_after=CUT, **first_response), *then)}


def goes_on(seen_range):
    return seen_range.startswith("bytes=") and 0 < int(seen_range[6:-1]) <= CUT


def goes_further(seen_range):
    return int(seen_range[6:-1]) > CUT


LATER = "Thu, 22 Oct 2015 07:28:00 GMT"
RESUMED = ({"range": None, "if-range": None}, {"range": goes_on, "if-range": FILE.etag})
AGAIN = (*RESUMED, {"range": None, "if-range": None})
ANEW = ({"range": None}, {"range": None, "if-range": None})

EMPTIED = Response(200, {"ETag": FILE.etag})


def TAIL(seen):
    return Response(200, {"ETag": FILE.etag}, FILE.data[seen.offset:])


def UNSIZED(seen):
    return rest(FILE, headers={"Content-Range": f"bytes {seen.offset}-{len(FILE) - 1}/*"})(seen)


ROWS = [
    *(Row(f"range-stream-error-{code}", f"ends the stream inside the body with the error {name}: the download "
          "continues at this byte", first(rest(FILE), stream_error=code), GOOD, asked=RESUMED, transports=("h2",),
          source="RFC 9113, 7")
      for code, name in ((1, "PROTOCOL_ERROR"), (3, "FLOW_CONTROL_ERROR"), (5, "STREAM_CLOSED"),
                         (6, "FRAME_SIZE_ERROR"), (9, "COMPRESSION_ERROR"))),
    Row("range-entity-tag", "sends a strong ETag, then drops the connection: the task requests the rest with If-Range",
        first(rest(FILE)), GOOD, asked=RESUMED, source="RFC 9110, 13.1.5"),
    Row("range-last-modified", "sends an old Last-Modified and no ETag, then drops the connection: the task requests "
        "the rest with If-Range",
        first(rest(FILE, etag=None, modified=MODIFIED), etag=None, modified=MODIFIED), GOOD,
        asked=({"range": None}, {"range": goes_on, "if-range": MODIFIED}), source="RFC 9110, 8.8.2.2"),
    Row("range-weak-entity-tag", "sends a weak ETag, then drops the connection: the download starts over",
        first(whole(FILE), etag='W/"1"'), GOOD, asked=ANEW,
        source="RFC 9110, 13.1.5: If-Range needs a strong validator"),
    Row("range-no-validator", "sends no validator, then drops the connection: the download starts over",
        first(whole(FILE), etag=None), GOOD, asked=ANEW),
    *(Row(f"range-digest-{name}", f"sends {text}, then drops the connection, for a task with a checksum: the task "
          "requests the rest without If-Range", first(rest(FILE, etag=then), etag=tag), GOOD,
          request={"checksum": FILE.sha256}, asked=({"range": None}, {"range": goes_on, "if-range": None}))
      for name, text, tag, then in (("weak", "a weak ETag", 'W/"1"', 'W/"1"'), ("none", "no validator", None, None),
                                    ("mirrors", "another ETag in each response", '"one"', '"two"'))),
    Row("range-digest-other-size", "drops, then sends the rest of a file of another size, for a task with a checksum: "
        "the download starts over", first(rest(FILE, etag=None, size=len(FILE) + 1), whole(FILE), etag=None), GOOD,
        request={"checksum": FILE.sha256}, asked=({"range": None}, {"range": goes_on}, {"range": None})),
    Row("range-digest-mixed", "drops, then sends the rest of other bytes, for a task with a checksum: the download "
        "starts over one time, and asks caches for a fresh copy",
        first(rest(OTHER, etag=None), whole(FILE), etag=None), GOOD, request={"checksum": FILE.sha256},
        asked=({"range": None, "pragma": None}, {"range": goes_on, "pragma": None},
               {"range": None, "cache-control": "no-cache", "pragma": "no-cache"})),
    Row("range-fresh-last-modified", "sends no ETag, but a Last-Modified of the same second as Date, then drops the "
        "connection: the download starts over",
        {"file": (lambda seen: _fresh().with_changes(drop_after=CUT), lambda seen: _fresh())}, GOOD, asked=ANEW,
        source="RFC 9110, 8.8.2.2: a date of the same second is a weak validator"),
    Row("range-ignored", "responds to the range request with 200: the download starts over with this response",
        first(whole(FILE)), GOOD, asked=RESUMED,
        source="RFC 9110, 14.2"),
    Row("range-changed", "responds to the range request with 200, because the file has changed: the download starts "
        "over with this response", first(whole(OTHER)),
        Expected(file=OTHER.data), asked=RESUMED, source="RFC 9110, 13.1.5"),
    Row("range-other-entity-tag", "responds with 206 and another ETag: the download starts over, and the file has only "
        "bytes of the new representation",
        first(rest(OTHER), whole(OTHER)), Expected(file=OTHER.data), asked=AGAIN, source="RFC 9110, 15.3.7"),
    Row("range-without-entity-tag", "responds with 206 and no ETag: the download starts over",
        first(rest(FILE, etag=None), whole(FILE)), GOOD, asked=AGAIN, source="RFC 9110, 15.3.7"),
    Row("range-other-size", "responds with 206 and another complete size: the download starts over",
        first(rest(FILE, size=len(FILE) + 1), whole(FILE)), GOOD, asked=AGAIN),
    Row("range-wrong-start", "responds with 206 and a Content-Range that begins at another offset: the download starts "
        "over",
        first(rest(FILE, headers={"Content-Range": f"bytes 7-{len(FILE) - 1}/{len(FILE)}"}), whole(FILE)), GOOD,
        asked=AGAIN, transports=UNCHANGED),
    Row("range-without-content-range", "responds with 206 without Content-Range: the download starts over",
        first(rest(FILE, headers={"Content-Range": None}), whole(FILE)), GOOD, asked=AGAIN, transports=UNCHANGED,
        source="RFC 9110, 15.3.7.1"),
    Row("range-broken-content-range", "responds with 206 and an invalid Content-Range: the download starts over",
        first(rest(FILE, headers={"Content-Range": "bytes forty-two/0x10"}), whole(FILE)), GOOD, asked=AGAIN,
        transports=UNCHANGED),
    Row("range-content-range-beyond", "responds with 206 and a Content-Range that ends beyond the complete size: the "
        "download starts over",
        first(rest(FILE, size=len(FILE) - 1), whole(FILE)), GOOD, asked=AGAIN, transports=UNCHANGED),
    Row("range-unknown-size", "responds with 206 and `*` as the complete size: the task keeps the size of "
        "the first response",
        first(UNSIZED, whole(FILE)), GOOD, asked=RESUMED, transports=UNCHANGED, source="RFC 9110, 14.4"),
    Row("range-other-unit", "responds with 206 and a range in a unit other than bytes: the download starts over",
        first(rest(FILE, headers={"Content-Range": f"lines 1-2/{len(FILE)}"}), whole(FILE)), GOOD, asked=AGAIN,
        transports=UNCHANGED),
    Row("range-shorter", "responds with 206 and a part of the requested range: the task requests the rest",
        first(rest(FILE, through=50_000), rest(FILE)), GOOD,
        asked=(*RESUMED, {"range": "bytes=50000-", "if-range": FILE.etag}), source="RFC 9110, 15.3.7"),
    Row("range-multipart", "responds with 206 as multipart/byteranges: the download starts over",
        first(rest(FILE, headers={"Content-Type": "multipart/byteranges; boundary=x"}), whole(FILE)), GOOD, asked=AGAIN,
        source="RFC 9110, 15.3.7.2"),
    Row("range-dropped-twice", "drops the connection three times: each attempt continues where the previous attempt "
        "ended",
        {"file": (whole(FILE, drop_after=20_000), lambda seen: rest(FILE)(seen).with_changes(drop_after=10_000),
                  lambda seen: rest(FILE)(seen).with_changes(drop_after=10_000), rest(FILE))}, GOOD),
    Row("range-length-lie", "responds with 206 and a Content-Length that contradicts Content-Range: the download "
        "starts over",
        first(lambda seen: rest(FILE)(seen).with_changes(length=3), whole(FILE)), GOOD, transports=("h1",)),
    Row("range-unasked", "responds with 206 to a request without a range: the task fails with `BH_BAD_RESPONSE`",
        {"file": (rest(FILE),)},
        Expected("failed", "BAD_RESPONSE", 206), transports=UNCHANGED, source="RFC 9110, 14.2"),
    Row("range-416-whole", "sends all bytes, drops before the final chunk of size 0, then responds with 416 and the "
        "same size: the file is complete",
        {"file": (whole(FILE, framing="chunked", drop_after=len(FILE)), unsatisfiable(len(FILE), ETag=FILE.etag))},
        GOOD,
        transports=("h1",), source="RFC 9110, 15.5.17"),
    Row("range-416-other-size", "responds with 416 and another size: the download starts over",
        first(unsatisfiable(100, ETag=FILE.etag), whole(FILE)), GOOD, asked=AGAIN, source="RFC 9110, 15.5.17"),
    Row("range-416-other-entity-tag", "responds with 416 and another ETag: the download starts over",
        first(unsatisfiable(CUT, ETag=OTHER.etag), whole(FILE)), GOOD, asked=AGAIN),
    Row("range-416-first", "responds with 416 to a request without a range: the task fails with the status",
        {"file": (unsatisfiable(10),)},
        Expected("failed", "HTTP_STATUS", 416)),
    *(Row(f"range-{status}-refused", f"responds with {status} to range requests only: the task requests the whole file",
          {"file": (whole(FILE, drop_after=CUT), lambda seen, status=status: Response(status) if seen.offset else
           whole(FILE))}, GOOD, asked=AGAIN)
      for status in (403, 500)),
    Row("range-412", "responds with 412 to the range request and to the request for the whole file: the task fails "
        "with the status", first(Response(412)), Expected("failed", "HTTP_STATUS", 412), asked=AGAIN,
        source="RFC 9110, 15.5.13"),
    Row("range-404", "responds with 404 to the range request and to the request for the whole file: the task fails "
        "with the status", first(Response(404)), Expected("failed", "HTTP_STATUS", 404), asked=AGAIN),
    Row("range-503", "responds with 503 to the first range request: the task retries and continues from the same "
        "offset",
        first(Response(503), rest(FILE)), GOOD,
        asked=(*RESUMED, {"range": goes_on, "if-range": FILE.etag})),
    Row("range-redirected", "redirects, then drops the connection at the new URL: the task requests the rest from the "
        "first URL",
        {"file": (redirect("{base}/real"),), "real": (whole(FILE, drop_after=CUT), rest(FILE))}, GOOD,
        asked=({"path": "file"}, {"path": "real", "range": None}, {"path": "file"}, {"path": "real",
        "range": goes_on})),
    Row("range-redirected-elsewhere", "drops, then redirects to another path and sends the same strong ETag, but "
        "another Last-Modified there: the download starts over",
        {"file": (redirect("{base}/one"), redirect("{base}/two")), "one": (whole(FILE, modified=MODIFIED,
        drop_after=CUT),), "two": (rest(OTHER, etag=FILE.etag, modified=LATER), whole(OTHER, etag=FILE.etag))},
        Expected(file=OTHER.data),
        asked=({"path": "file"}, {"path": "one", "range": None}, {"path": "file"}, {"path": "two", "range": goes_on},
               {"path": "file"}, {"path": "two", "range": None}),
        source="RFC 9110, 8.8.1: an ETag belongs to one resource"),
    Row("range-redirected-signed-path", "drops three times, and redirects each request to another path, with the same "
        "strong ETag and size there: the download continues",
        {"file": tuple(redirect(f"{{base}}/{part}") for part in "abc"), "a": (whole(FILE, drop_after=CUT),),
         "b": (lambda seen: rest(FILE)(seen).with_changes(drop_after=10_000),), "c": (rest(FILE),)}, GOOD,
        asked=({"path": "file"}, {"path": "a", "range": None}, {"path": "file"}, {"path": "b", "range": goes_on},
               {"path": "file"}, {"path": "c", "range": goes_further})),
    Row("range-other-last-modified", "responds with 206, the same strong ETag and another Last-Modified: the download "
        "starts over",
        first(rest(OTHER, etag=FILE.etag, modified=LATER), whole(OTHER, etag=FILE.etag, modified=LATER),
              modified=MODIFIED), Expected(file=OTHER.data), asked=AGAIN,
        source="RFC 9110, 8.8.1: an ETag belongs to one representation"),
    *(Row(f"range-other-last-modified-{name}", f"sends {text}, drops, then responds with 206, the same strong ETag and "
          "another Last-Modified: the download starts over",
          first(rest(OTHER, etag=FILE.etag, modified=LATER), whole(OTHER, etag=FILE.etag, modified=LATER),
                modified=MODIFIED, headers={"Date": date}), Expected(file=OTHER.data), asked=AGAIN,
          source="RFC 9110, 8.8.1: an ETag belongs to one representation")
      for name, text, date in (("undated", "no Date", None), ("fresh", "a Last-Modified that equals Date", MODIFIED))),
    Row("range-redirected-signed", "drops, then redirects to the same path with another query, and sends the same "
        "strong ETag: the download continues",
        {"file": (redirect("{base}/real?signature=1"), redirect("{base}/real?signature=2")),
         "real": (whole(FILE, drop_after=CUT), rest(FILE))}, GOOD,
        asked=({"path": "file"}, {"path": "real?signature=1"}, {"path": "file"},
               {"path": "real?signature=2", "range": goes_on})),
    Row("range-coded", "responds to the range request with another Content-Encoding: the download starts over",
        first(rest(FILE, headers={"Content-Encoding": "gzip"}), whole(FILE)), GOOD, asked=AGAIN,
        source="RFC 9110, 8.8.3.3: another coding is another representation"),
    Row("range-same-tag-empty", "responds to the range request with 200, an empty body and the same strong ETag: the "
        "download starts over",
        first(EMPTIED, whole(FILE)), GOOD, asked=AGAIN, transports=UNCHANGED, source="RFC 9110, 8.8.1"),
    Row("range-same-tag-tail", "responds to the range request with 200, only the rest of the bytes and the same "
        "strong ETag: the download starts over",
        first(TAIL, whole(FILE)), GOOD, asked=AGAIN, transports=UNCHANGED, source="RFC 9110, 8.8.1"),
    Row("range-same-tag-empty-always", "drops, then always responds with 200, an empty body and the same strong ETag: "
        "the task fails with `BH_BAD_RESPONSE`",
        first(EMPTIED), Expected("failed", "BAD_RESPONSE", message="under the entity tag"), asked=AGAIN,
        transports=UNCHANGED, source="RFC 9110, 8.8.1"),
    Row("range-same-tag-short-chunks", "drops, then always responds with 200, a shorter chunked body and the same "
        "strong ETag: the task fails",
        first(EMPTIED.with_changes(body=FILE.data[:9], framing="chunked")), Expected("failed"),
        session={"maximum_attempts": 3},
        transports=("h1",), source="RFC 9110, 8.8.1"),
    *(Row(f"range-{status}", f"responds to the range request with {status}: the download starts over",
          first(Response(status, {"ETag": FILE.etag}), whole(FILE)), GOOD, asked=AGAIN, transports=UNCHANGED)
      for status in (201, 202, 204, 205)),
    Row("range-204-always", "drops, then responds to every request with 204: the task fails with `BH_BAD_RESPONSE`",
        first(Response(204)),
        Expected("failed", "BAD_RESPONSE"), asked=AGAIN, transports=UNCHANGED),
    Row("range-two-content-ranges", "responds with 206 and two different Content-Range fields: the download starts "
        "over",
        first(lambda seen: Response(206, {"ETag": FILE.etag, "Content-Range": [
            f"bytes {seen.offset}-{len(FILE) - 1}/{len(FILE)}", f"bytes 0-{len(FILE) - 1}/{len(FILE)}"]},
            FILE.data[seen.offset:]), whole(FILE)), GOOD, asked=AGAIN, transports=("h1", "h2")),
    Row("range-control-characters", "sends an ETag with a control character, then drops: the task does not use the "
        "ETag as a validator, and starts over",
        {"file": (whole(FILE, drop_after=CUT, etag='"a\x01"'), whole(OTHER, etag='"a\x02"'))},
        Expected(file=OTHER.data), asked=ANEW, transports=("h1",), source="RFC 9110, 8.8.3"),
    Row("range-tag-bytes", "sends an ETag that is not valid UTF-8, then drops: the task does not use the ETag as a "
        "validator, and starts over",
        {"file": (whole(FILE, drop_after=CUT, etag='"\udce9"'), whole(OTHER, etag='"\udce8"'))},
        Expected(file=OTHER.data), asked=ANEW, transports=("h1",), source="RFC 9110, 8.8.3"),
    Row("range-post", "drops during the response to a POST that the task may repeat: the task sends the POST again, "
        "without a range",
        {"file": (DROPPED, whole(FILE))}, GOOD, request={"method": "POST", "body": b"query", "to_file": True,
        "retries": True},
        asked=({"method": "POST", "range": None}, {"method": "POST", "range": None})),
]


def _fresh():
    from email.utils import formatdate

    now = formatdate(usegmt=True)
    return whole(FILE, etag=None, headers={"Date": now, "Last-Modified": now})
