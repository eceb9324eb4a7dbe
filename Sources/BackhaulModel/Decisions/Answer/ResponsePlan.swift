/// What to do with an answer, decided from its head alone. A resumed file is never a mixture: bytes are appended only
/// when the answer proves that they belong to the same representation and start where ours end.
public enum ResponsePlan: Equatable, Sendable {
    /// Append the body to the bytes that are there. `size`: of the whole file. `through`: how long the file is after
    /// this body; less than `size` when the server sends only a part of what was asked for (RFC 9110, section 15.3.7).
    case append(size: UInt64, through: UInt64)
    /// What is there is of no use: write the body from the start. `size`: of the whole file, if told.
    case startOver(size: UInt64?, Validator)
    /// All bytes are there already.
    case whole
    /// The server has no other version than the one that the condition was about.
    case unchanged
    /// The body is not the file; try again. `fromZero`: what is there is not to be trusted.
    case retry(Failure, fromZero: Bool)
    /// The response contradicts the one that sent our bytes. The bytes are discarded; size and validator are kept for
    /// the next attempt.
    case contradiction(Failure)
    /// The body is not the file, and trying again would not change that.
    case fail(Failure)

    /// No file is longer: Linux counts its bytes in a signed 64-bit number (off_t).
    static let longestFile = UInt64(Int64.max)

    /// - offset: bytes that are there, asked for with `Range: bytes=offset-`; 0 when the whole file was asked for.
    /// - known: the checkpoint. With offset 0 it is a promise: size and validator of a file whose bytes were discarded.
    /// - isConditional: another version than the one at the destination was asked for.
    public static func decide(
        _ head: ResponseHead, offset: UInt64, known: Checkpoint?, terms: DownloadTerms = DownloadTerms(),
        isConditional: Bool = false
    ) -> ResponsePlan {
        switch head.status {
        // A range is our own way to the file: whoever accepts the whole accepts its rest.
        case 206 where offset > 0 && (terms.acceptedStatuses.contains(200) || terms.acceptedStatuses.contains(206)):
            guard let known else { return .retry(unexpected(206, "which was not asked for"), fromZero: true) }
            return continuation(head, offset: offset, known: known, terms)
        case 206 where terms.acceptedStatuses.contains(206):
            return .fail(unexpected(206, "to a request without a range"))
        case 416 where offset > 0:
            return unsatisfiable(head, offset: offset, known: known)
        case 304 where isConditional:
            return .unchanged
        // An earlier response had the file. These statuses state that there is none.
        case let status where known != nil && saysNoFile(status) && terms.acceptedStatuses.contains(status):
            let failure = unexpected(status, "to a request for a file of which it had sent a part")
            return offset > 0 ? .contradiction(failure) : .fail(failure)
        case let status where terms.acceptedStatuses.contains(status):
            return wholeFile(head, offset: offset, known, terms)
        default:
            let failure = Failure.status(of: head)
            let isRetried =
                terms.retriedStatuses.contains(head.status) || failure.isOfPortal || head.asksForLaterRequest
            return isRetried ? .retry(failure, fromZero: false) : .fail(failure)
        }
    }

    /// Of the statuses of success all but 200, 203 (RFC 9110, section 15.3.4) and 206.
    private static func saysNoFile(_ status: Int32) -> Bool {
        (200...299).contains(status) && ![200, 203, 206].contains(status)
    }

    private static func wholeFile(
        _ head: ResponseHead, offset: UInt64, _ known: Checkpoint?, _ terms: DownloadTerms
    ) -> ResponsePlan {
        guard !terms.hasNoBody(head.status) else { return accepted(0, Validator(), terms) }
        // Ranges are for GET, and for the file rather than for a page that says why there is none.
        let isFile = terms.method == "GET" && (200...299).contains(head.status)
        let validator = isFile ? Validator(of: head) : Validator()
        // A strong entity tag promises the same bytes (RFC 9110, section 8.8.1), and so as many.
        let isSame = known?.validator.entityTag != nil && known?.validator == validator
        let promised = isSame ? known?.size : nil
        let length = ContentLength(head)
        if isSame, case .bytes(let size) = length, size < offset || size != promised ?? size {
            let before = promised.map { "\($0)" } ?? "more than \(offset)"
            let failure = unexpected(
                head.status, "with \(size) bytes under the entity tag of a file of \(before) bytes")
            return offset > 0 ? .contradiction(failure) : .fail(failure)
        }
        switch length {
        case .unknown: return .startOver(size: promised, validator)
        case .bytes(let size) where size <= longestFile: return accepted(size, validator, terms)
        case .bytes: return .fail(tooLong)
        case .malformed: return .fail(unexpected(head.status, "with a Content-Length that is not one number"))
        }
    }

    private static func accepted(_ size: UInt64, _ validator: Validator, _ terms: DownloadTerms) -> ResponsePlan {
        terms.refusal(ofSize: size).map { refused($0, terms) } ?? .startOver(size: size, validator)
    }

    /// A wrong size may be a cache's slip, once.
    private static func refused(_ failure: Failure, _ terms: DownloadTerms) -> ResponsePlan {
        failure.status == .sizeMismatch && !terms.hadMismatch ? .retry(failure, fromZero: true) : .fail(failure)
    }

    private static func continuation(
        _ head: ResponseHead, offset: UInt64, known: Checkpoint, _ terms: DownloadTerms
    ) -> ResponsePlan {
        func startAgain(_ reason: String) -> ResponsePlan { .retry(unexpected(206, reason), fromZero: true) }
        // Its Content-Range would lie inside the body, among other parts (RFC 9110, section 15.3.7.2).
        if head.plainText("Content-Type").map(isMultipart) == true { return startAgain("in several parts") }
        guard !head.isContradictory("Content-Range") else { return startAgain("with two different Content-Ranges") }
        guard let text = head.value("Content-Range"), let range = ContentRange(text), let bytes = range.range else {
            return startAgain("without a valid Content-Range")
        }
        guard bytes.lowerBound == offset else {
            return startAgain("that starts at \(bytes.lowerBound) instead of \(offset)")
        }
        if let size = known.size, let total = range.size, size != total {
            return startAgain("of a file of \(total) bytes that had \(size) before")
        }
        // Without any size it cannot be seen whether the part that the server chose to send is the last one.
        guard let size = range.size ?? known.size else { return startAgain("without the size of the file") }
        guard size <= longestFile else { return .fail(tooLong) }
        guard bytes.upperBound < size else { return startAgain("that ends behind the end of the file") }
        let length = ContentLength(head)
        guard length == .unknown || length == .bytes(bytes.upperBound - bytes.lowerBound + 1) else {
            return startAgain("whose Content-Length is not that of its Content-Range")
        }
        if let difference = difference(of: head, to: known, bodyIsPart: true) { return startAgain(difference) }
        let facts = RepresentationFacts(head, terms)
        // A 206 to If-Range need not repeat the coding (RFC 9110, section 15.3.7).
        if let coding = facts.contentEncoding, coding != known.facts.contentEncoding {
            return startAgain("with another Content-Encoding than before")
        }
        if let digest = facts.digest, let before = known.facts.digest, digest.algorithm == before.algorithm,
            digest != before
        {
            return startAgain("with another digest than before")
        }
        if let failure = terms.refusal(ofSize: size) { return refused(failure, terms) }
        return .append(size: size, through: bytes.upperBound + 1)
    }

    private static func unsatisfiable(_ head: ResponseHead, offset: UInt64, known: Checkpoint?) -> ResponsePlan {
        let isClear = !head.isContradictory("Content-Range")
        let range = isClear ? head.value("Content-Range").flatMap(ContentRange.init) : nil
        // Our bytes are all of it, under the same validator: the connection broke after the last one.
        if let known, let range, range.range == nil, range.size == offset, known.size == nil || known.size == offset,
            difference(of: head, to: known, bodyIsPart: false) == nil
        {
            return .whole
        }
        return .retry(unexpected(416, "to a range that starts at \(offset)"), fromZero: true)
    }

    /// Why the answer may be of another representation than our bytes; nil when it proves to be of the same.
    ///
    /// A 206 must repeat the entity tag that the whole answer had (RFC 9110, section 15.3.7). It may leave
    /// Last-Modified out, and a 416 both: then that the server has honoured If-Range is the proof.
    private static func difference(of head: ResponseHead, to known: Checkpoint, bodyIsPart: Bool) -> String? {
        if let tag = known.validator.entityTag {
            guard isSame(head, "ETag", tag, ifAbsent: !bodyIsPart) else { return "with another entity tag than before" }
        } else if let modified = known.validator.lastModified {
            guard isSame(head, "Last-Modified", modified, ifAbsent: true) else {
                return "with another Last-Modified than before"
            }
            // The whole would have had it, too (RFC 9110, section 15.3.7).
            guard !bodyIsPart || head.bytes("ETag") == nil else { return "with an entity tag that it did not have" }
        } else {
            return "for bytes that have no validator"
        }
        // The host says so itself, by another URL; a strong entity tag and the size, compared before, must agree.
        if known.finalURL.isEmpty, known.validator.entityTag != nil, known.size != nil { return nil }
        // A validator tells the versions of one resource apart, and says nothing of others (RFC 9110, section 8.8.1).
        // Signed links change their query with each redirect; with a strong entity tag that is no other resource.
        let isSameResource =
            known.validator.entityTag == nil
            ? isSame(head.finalURL, known.finalURL) : isSameAddress(head.finalURL, known.finalURL)
        return isSameResource ? nil : "from another address than before"
    }

    /// All fields of this name have the value, byte for byte.
    private static func isSame(_ head: ResponseHead, _ name: String, _ value: String, ifAbsent: Bool) -> Bool {
        let values = head.allBytes(name)
        return values.isEmpty ? ifAbsent : values.allSatisfy { $0.elementsEqual(value.utf8) }
    }

    /// Byte for byte: Swift's `==` takes some different characters for the same.
    private static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    static func isSameAddress(_ left: String, _ right: String) -> Bool {
        withoutQuery(left).elementsEqual(withoutQuery(right))
    }

    private static func withoutQuery(_ url: String) -> Substring.UTF8View {
        url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    }

    private static func isMultipart(_ mediaType: String) -> Bool {
        mediaType.lowercased().hasPrefix("multipart/byteranges")
    }

    private static func unexpected(_ status: Int32, _ rest: String) -> Failure {
        Failure(.badResponse, "the server answered \(status) \(rest)", domain: .http, detail: Int64(status))
    }

    private static var tooLong: Failure {
        Failure(.tooLarge, "the server announced more bytes than a file can have; ask its operator what the file is")
    }
}

extension ResponseHead {
    /// Of a 416 that says that no more bytes follow: what it tells of the file and not of its own page.
    var withoutPage: ResponseHead {
        var head = self
        head.status = 206
        head.fields.removeAll { field in !["ETag", "Last-Modified", "Date"].contains { field.isNamed($0) } }
        return head
    }

    /// 413 with Retry-After is temporary (RFC 9110, section 15.5.14).
    var asksForLaterRequest: Bool { status == 413 && retryAfterSeconds != nil }
}

extension Failure {
    /// That of a response whose status is not accepted.
    static func status(of head: ResponseHead) -> Failure {
        let server = head.status == 407 ? head.proxy.map { "the proxy \($0)" } ?? "the server" : "the server"
        return Failure(
            .httpStatus, "\(server) answered with status \(head.status)", domain: .http, detail: Int64(head.status))
    }
}
