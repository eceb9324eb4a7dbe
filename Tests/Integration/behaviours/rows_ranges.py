"""Ranges and resumption: RFC 9110, sections 13.1.5 and 14; RFC 9110, section 15.3.7."""

from behaviours.script import MODIFIED, UNCHANGED, Answer, Becomes, Content, Row, redirect, rest, unsatisfiable, whole

FILE, OTHER = Content(), Content(seed=2)
#: The offset at which the server of these rows cuts off the first response.
CUT = 40_000
DROPPED = whole(FILE, drop_after=CUT)
GOOD = Becomes(file=FILE.data)


def first(*then, **first_answer):
    """A script whose first response is cut off. The given responses follow."""
    return {"file": (whole(FILE, drop_after=CUT, **first_answer), *then)}


def goes_on(seen_range):
    return seen_range.startswith("bytes=") and 0 < int(seen_range[6:-1]) <= CUT


RESUMED = ({"range": None, "if-range": None}, {"range": goes_on, "if-range": FILE.etag})
AGAIN = (*RESUMED, {"range": None, "if-range": None})
ANEW = ({"range": None}, {"range": None, "if-range": None})

EMPTIED = Answer(200, {"ETag": FILE.etag})


def TAIL(seen):
    return Answer(200, {"ETag": FILE.etag}, FILE.data[seen.offset:])


ROWS = [
    Row("range-entity-tag", "drops the connection and has a strong ETag: the rest is asked for with If-Range",
        first(rest(FILE)), GOOD, asked=RESUMED, source="RFC 9110, 13.1.5"),
    Row("range-last-modified", "drops the connection and has an old Last-Modified alone: the rest is asked for",
        first(rest(FILE, etag=None, modified=MODIFIED), etag=None, modified=MODIFIED), GOOD,
        asked=({"range": None}, {"range": goes_on, "if-range": MODIFIED}), source="RFC 9110, 8.8.2.2"),
    Row("range-weak-entity-tag", "has a weak ETag: it begins again", first(whole(FILE), etag='W/"1"'), GOOD, asked=ANEW,
        source="RFC 9110, 13.1.5: a weak validator is none for If-Range"),
    Row("range-no-validator", "has no validator: it begins again", first(whole(FILE), etag=None), GOOD, asked=ANEW),
    Row("range-fresh-last-modified", "was modified in the second of its answer: it begins again",
        {"file": (lambda seen: _fresh().but(drop_after=CUT), lambda seen: _fresh())}, GOOD, asked=ANEW,
        source="RFC 9110, 8.8.2.2: within a second a date is a weak validator"),
    Row("range-ignored", "answers the range with 200: the file begins anew", first(whole(FILE)), GOOD, asked=RESUMED,
        source="RFC 9110, 14.2"),
    Row("range-changed", "has another version and answers 200: it is that version, whole", first(whole(OTHER)),
        Becomes(file=OTHER.data), asked=RESUMED, source="RFC 9110, 13.1.5"),
    Row("range-other-entity-tag", "answers 206 with another ETag: it begins again, no mixture",
        first(rest(OTHER), whole(OTHER)), Becomes(file=OTHER.data), asked=AGAIN, source="RFC 9110, 15.3.7"),
    Row("range-without-entity-tag", "answers 206 without the ETag: it begins again",
        first(rest(FILE, etag=None), whole(FILE)), GOOD, asked=AGAIN, source="RFC 9110, 15.3.7"),
    Row("range-other-size", "answers 206 of a file of another size: it begins again",
        first(rest(FILE, size=len(FILE) + 1), whole(FILE)), GOOD, asked=AGAIN),
    Row("range-wrong-start", "answers 206 from another offset: it begins again",
        first(rest(FILE, headers={"Content-Range": f"bytes 7-{len(FILE) - 1}/{len(FILE)}"}), whole(FILE)), GOOD,
        asked=AGAIN, carriers=UNCHANGED),
    Row("range-without-content-range", "answers 206 without Content-Range: it begins again",
        first(rest(FILE, headers={"Content-Range": None}), whole(FILE)), GOOD, asked=AGAIN, carriers=UNCHANGED,
        source="RFC 9110, 15.3.7.1"),
    Row("range-broken-content-range", "answers 206 with a Content-Range that is none: it begins again",
        first(rest(FILE, headers={"Content-Range": "bytes forty-two/0x10"}), whole(FILE)), GOOD, asked=AGAIN,
        carriers=UNCHANGED),
    Row("range-content-range-beyond", "answers 206 that ends behind the end of the file: it begins again",
        first(rest(FILE, size=len(FILE) - 1), whole(FILE)), GOOD, asked=AGAIN, carriers=UNCHANGED),
    Row("range-unknown-size", "answers 206 with a size of *: the known one holds",
        first(rest(FILE, headers={"Content-Range": None}), whole(FILE)), GOOD, carriers=UNCHANGED),
    Row("range-other-unit", "answers 206 in another unit than bytes: it begins again",
        first(rest(FILE, headers={"Content-Range": f"lines 1-2/{len(FILE)}"}), whole(FILE)), GOOD, asked=AGAIN,
        carriers=UNCHANGED),
    Row("range-shorter", "answers 206 with less than was asked for: the rest is asked for once more",
        first(rest(FILE, through=50_000), rest(FILE)), GOOD,
        asked=(*RESUMED, {"range": "bytes=50000-", "if-range": FILE.etag}), source="RFC 9110, 15.3.7"),
    Row("range-multipart", "answers 206 as multipart/byteranges: it begins again",
        first(rest(FILE, headers={"Content-Type": "multipart/byteranges; boundary=x"}), whole(FILE)), GOOD, asked=AGAIN,
        source="RFC 9110, 15.3.7.2"),
    Row("range-dropped-twice", "drops the connection three times: each try goes on where the last one ended",
        {"file": (whole(FILE, drop_after=20_000), lambda seen: rest(FILE)(seen).but(drop_after=10_000),
                  lambda seen: rest(FILE)(seen).but(drop_after=10_000), rest(FILE))}, GOOD),
    Row("range-length-lie", "announces in 206 another Content-Length than its Content-Range: it begins again",
        first(lambda seen: rest(FILE)(seen).but(length=3), whole(FILE)), GOOD, carriers=("h1",)),
    Row("range-unasked", "answers 206 to a request without a range: the task fails", {"file": (rest(FILE),)},
        Becomes("failed", "BAD_RESPONSE", 206), carriers=UNCHANGED, source="RFC 9110, 14.2"),
    Row("range-416-whole", "had sent all but the end of the body, and says 416 with the same size: it is whole",
        {"file": (whole(FILE, framing="chunked", drop_after=len(FILE)), unsatisfiable(len(FILE), ETag=FILE.etag))},
        GOOD,
        carriers=("h1",), source="RFC 9110, 15.5.17"),
    Row("range-416-other-size", "says 416 with another size: it begins again",
        first(unsatisfiable(100, ETag=FILE.etag), whole(FILE)), GOOD, asked=AGAIN, source="RFC 9110, 15.5.17"),
    Row("range-416-other-entity-tag", "says 416 with another ETag: it begins again",
        first(unsatisfiable(CUT, ETag=OTHER.etag), whole(FILE)), GOOD, asked=AGAIN),
    Row("range-416-first", "says 416 to a request without a range: the task fails", {"file": (unsatisfiable(10),)},
        Becomes("failed", "HTTP_STATUS", 416)),
    Row("range-412", "says 412 to the range: the task fails with the status", first(Answer(412)),
        Becomes("failed", "HTTP_STATUS", 412), source="RFC 9110, 15.5.13"),
    Row("range-404", "has removed the file meanwhile: the task fails with the status", first(Answer(404)),
        Becomes("failed", "HTTP_STATUS", 404)),
    Row("range-503", "is overloaded in between: it goes on from its offset", first(Answer(503), rest(FILE)), GOOD,
        asked=(*RESUMED, {"range": goes_on, "if-range": FILE.etag})),
    Row("range-redirected", "redirects to a path that drops: the rest is asked for by the first URL again",
        {"file": (redirect("{base}/real"),), "real": (whole(FILE, drop_after=CUT), rest(FILE))}, GOOD,
        asked=({"path": "file"}, {"path": "real", "range": None}, {"path": "file"}, {"path": "real",
        "range": goes_on})),
    Row("range-redirected-elsewhere", "redirects to another path after the drop, with the same strong ETag: no mixture",
        {"file": (redirect("{base}/one"), redirect("{base}/two")), "one": (whole(FILE, drop_after=CUT),),
         "two": (rest(FILE), whole(FILE))}, GOOD, source="RFC 9110, 8.8.1: an ETag is of one resource"),
    Row("range-redirected-signed", "redirects to the same path with another query: with a strong ETag it goes on",
        {"file": (redirect("{base}/real?signature=1"), redirect("{base}/real?signature=2")),
         "real": (whole(FILE, drop_after=CUT), rest(FILE))}, GOOD,
        asked=({"path": "file"}, {"path": "real?signature=1"}, {"path": "file"},
               {"path": "real?signature=2", "range": goes_on})),
    Row("range-coded", "answers the range in another Content-Encoding than the whole: it begins again",
        first(rest(FILE, headers={"Content-Encoding": "gzip"}), whole(FILE)), GOOD, asked=AGAIN,
        source="RFC 9110, 8.8.3.3: codings are other representations"),
    Row("range-same-tag-empty", "answers the range with an empty 200 under the same strong ETag: it begins again",
        first(EMPTIED, whole(FILE)), GOOD, asked=AGAIN, carriers=UNCHANGED, source="RFC 9110, 8.8.1"),
    Row("range-same-tag-tail", "answers the range with the rest as a 200 under the same strong ETag: it begins again",
        first(TAIL, whole(FILE)), GOOD, asked=AGAIN, carriers=UNCHANGED, source="RFC 9110, 8.8.1"),
    Row("range-same-tag-empty-always", "has an empty file under the same strong ETag from then on: that is not the "
        "file",
        first(EMPTIED), Becomes("failed", "BAD_RESPONSE", says="under the entity tag"), asked=AGAIN,
        carriers=UNCHANGED, source="RFC 9110, 8.8.1"),
    Row("range-same-tag-short-chunks", "has less in chunks under the same strong ETag from then on: that is not the "
        "file",
        first(EMPTIED.but(body=FILE.data[:9], framing="chunked")), Becomes("failed"), session={"maximum_attempts": 3},
        carriers=("h1",), source="RFC 9110, 8.8.1"),
    *(Row(f"range-{status}", f"answers the range with {status}: it begins again",
          first(Answer(status, {"ETag": FILE.etag}), whole(FILE)), GOOD, asked=AGAIN, carriers=UNCHANGED)
      for status in (201, 202, 204, 205)),
    Row("range-204-always", "answers the range, and the whole, with 204: that is not the file", first(Answer(204)),
        Becomes("failed", "BAD_RESPONSE"), asked=AGAIN, carriers=UNCHANGED),
    Row("range-two-content-ranges", "answers 206 with two Content-Range fields that differ: it begins again",
        first(lambda seen: Answer(206, {"ETag": FILE.etag, "Content-Range": [
            f"bytes {seen.offset}-{len(FILE) - 1}/{len(FILE)}", f"bytes 0-{len(FILE) - 1}/{len(FILE)}"]},
            FILE.data[seen.offset:]), whole(FILE)), GOOD, asked=AGAIN, carriers=("h1", "h2")),
    Row("range-control-characters", "has an ETag with a control character, then another: it is no validator",
        {"file": (whole(FILE, drop_after=CUT, etag='"a\x01"'), whole(OTHER, etag='"a\x02"'))},
        Becomes(file=OTHER.data), asked=ANEW, carriers=("h1",), source="RFC 9110, 8.8.3"),
    Row("range-tag-bytes", "has an ETag with bytes that are no text, then another: it is no validator",
        {"file": (whole(FILE, drop_after=CUT, etag='"\udce9"'), whole(OTHER, etag='"\udce8"'))},
        Becomes(file=OTHER.data), asked=ANEW, carriers=("h1",), source="RFC 9110, 8.8.3"),
    Row("range-post", "drops the answer to a POST: it begins anew, without a range",
        {"file": (DROPPED, whole(FILE))}, GOOD, request={"method": "POST", "body": b"query", "to_file": True,
        "retries": True},
        asked=({"method": "POST", "range": None}, {"method": "POST", "range": None})),
]


def _fresh():
    from email.utils import formatdate

    now = formatdate(usegmt=True)
    return whole(FILE, etag=None, headers={"Date": now, "Last-Modified": now})
