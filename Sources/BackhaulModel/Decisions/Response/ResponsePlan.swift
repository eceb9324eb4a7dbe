/// What a download does with a response. Only the head of the response decides this. A *representation* is the content
/// of the server's file at one time. The downloaded file never gets bytes of two representations. The bytes that have
/// come so far are in the *part file*. A response's bytes are appended to the part file only if the response proves two
/// facts: the bytes belong to the same representation, and they start where the part file ends.
public enum ResponsePlan: Equatable, Sendable {
    /// Append the body to the part file. `size`: the size of the whole file. `through`: the length of the file after
    /// this body. This length is less than `size` if the server sends only a part of the requested range (RFC 9110,
    /// section 15.3.7).
    case append(size: UInt64, through: UInt64)
    /// Write the body from the first byte, because the bytes of the part file are useless. `size`: the size of the
    /// whole file, if the server states it.
    /// `body`: which bytes of the body belong to the file.
    case startOver(size: UInt64?, Validator, body: BodyExtent = .whole)
    /// Finish the part file, because it already has all bytes.
    case whole
    /// Keep the file at the destination (the final path of the download), because the response states that the
    /// representation of this file has not changed.
    case unchanged
    /// Retry, because the body is not the file. `fromZero`: the bytes of the part file are not trusted.
    case retry(Failure, fromZero: Bool)
    /// Discard the bytes of the part file and retry, because this response contradicts the response from which these
    /// bytes came. Size and validator are kept for the next attempt (the next run of the download).
    case contradiction(Failure)
    /// Request the whole file in the same attempt, because the server has perhaps refused only the range. The part
    /// file is kept until the response with the whole file begins.
    case withoutRange
    /// Fail, because the body is not the file. A further attempt would get the same response.
    case fail(Failure)

    /// Which bytes of a response's body belong to the file.
    public enum BodyExtent: Equatable, Sendable {
        case whole
        /// The server sends only a part of the requested range. `through`: the length of the file after this body.
        case part(through: UInt64)
        /// The server has ignored the range, and sends the whole resource. `skipped`: the bytes before the file's first
        /// byte.
        case around(skipped: UInt64)
    }

    /// The longest possible file: Linux stores a file size in a signed 64-bit number (off_t).
    static let maximumFileSize = UInt64(Int64.max)

    /// - offset: the number of bytes in the part file. The request had the range `terms.requestedBytes(from: offset)`.
    /// - known: the checkpoint, which is what the store has recorded about the part file. If the offset is 0, the bytes
    /// of the part file were discarded, but the checkpoint's size and validator (ETag or Last-Modified) still apply.
    /// - isConditional: whether the request demands the file only if it differs from the file at the destination.
    public static func decide(
        _ head: ResponseHead, offset: UInt64, known: Checkpoint?, terms: DownloadTerms = DownloadTerms(),
        isConditional: Bool = false
    ) -> ResponsePlan {
        switch head.status {
        // The engine, not the request of the program, has added the range. So if the program accepts status 200 for the
        // whole file, the engine also accepts 206 for the rest of the file.
        case 206 where offset > 0 && (terms.acceptedStatuses.contains(200) || terms.acceptedStatuses.contains(206)):
            guard let known else { return .retry(unexpected(206, "although no range was requested"), fromZero: true) }
            return part(head, offset: offset, known: known, terms)
        case 206
        where terms.range != nil && (terms.acceptedStatuses.contains(200) || terms.acceptedStatuses.contains(206)):
            return part(head, offset: 0, known: known, terms)
        case 206 where terms.acceptedStatuses.contains(206):
            return .fail(unexpected(206, "to a request without a range"))
        case 416 where offset > 0:
            return unsatisfiable(head, offset: offset, known: known, terms)
        case 416 where terms.range != nil:
            return refused(terms.refusal(ofTotal: contentRange(of: head)?.size) ?? tooShort(terms), terms)
        case 304 where isConditional:
            return .unchanged
        case 202 where head.retryAfterSeconds != nil && terms.method == "GET" && !terms.acceptsUnreadyFiles:
            return .retry(unready, fromZero: false)
        // If an earlier response has sent a part of the file, the server has the file. A status that means success
        // without a file contradicts this.
        case let status where known != nil && hasNoRepresentation(status) && terms.acceptedStatuses.contains(status):
            let failure = unexpected(status, "to a request for a file of which it had sent a part")
            return offset > 0 ? .contradiction(failure) : .fail(failure)
        case let status where terms.acceptedStatuses.contains(status):
            return wholeFile(head, offset: offset, known, terms)
        case _ where offset > 0 && head.mayRefuseRange: return .withoutRange
        default:
            let failure = Failure.status(of: head, opensChallenges: terms.opensChallenges)
            let isRetried =
                terms.retriedStatuses.contains(head.status) || failure.isFromCaptivePortal || head.pauseSeconds != nil
            return isRetried ? .retry(failure, fromZero: false) : .fail(failure)
        }
    }

    /// Whether the status means success without the file: each 2xx except 200, 203 (RFC 9110, section 15.3.4) and 206.
    private static func hasNoRepresentation(_ status: Int32) -> Bool {
        (200...299).contains(status) && ![200, 203, 206].contains(status)
    }

    private static func wholeFile(
        _ head: ResponseHead, offset: UInt64, _ known: Checkpoint?, _ terms: DownloadTerms
    ) -> ResponsePlan {
        guard !terms.hasNoBody(head.status) else {
            return terms.refusal(ofTotal: 0).map { refused($0, terms) } ?? accepted(0, Validator(), terms)
        }
        if let failure = terms.refusal(ofType: head, known) { return .retry(failure, fromZero: false) }
        // A validator is needed only to request the rest of a file, and only a GET can request a range. A response with
        // another status is an error page, and its validator does not belong to the file.
        let isFile = terms.method == "GET" && head.isSuccess
        let validator = isFile ? Validator(of: head) : Validator()
        // Responses with the same strong entity tag have the same bytes (RFC 9110, section 8.8.1), and so the same
        // size.
        let isSame = known.map { validator.isSameRepresentation(as: $0.validator) } ?? false
        let promised = terms.range?.size ?? (isSame ? known?.size : nil)
        var length = ContentLength(head.fields)
        var body = BodyExtent.whole
        if let range = terms.range {
            body = .around(skipped: range.start)
            if case .bytes(let total) = length, total <= maximumFileSize {
                guard let bytes = range.bytes(of: total) else {
                    return refused(terms.refusal(ofTotal: total) ?? tooShort(terms), terms)
                }
                length = .bytes(UInt64(bytes.count))
            }
        }
        if isSame, case .bytes(let size) = length, size < offset || size != promised ?? size {
            let before = promised.map { "\($0)" } ?? "more than \(offset)"
            let failure = unexpected(
                head.status, "with \(size) bytes under the entity tag of a file of \(before) bytes")
            return offset > 0 ? .contradiction(failure) : .fail(failure)
        }
        switch length {
        case .unknown: return .startOver(size: promised, validator, body: body)
        case .bytes(let size) where size <= maximumFileSize: return accepted(size, validator, terms, body)
        case .bytes: return .fail(tooLong)
        case .malformed: return .fail(unexpected(head.status, "with a Content-Length that is not one number"))
        }
    }

    private static func accepted(
        _ size: UInt64, _ validator: Validator, _ terms: DownloadTerms, _ body: BodyExtent = .whole
    ) -> ResponsePlan {
        terms.refusal(ofSize: size).map { refused($0, terms) } ?? .startOver(size: size, validator, body: body)
    }

    /// Refuses a file whose size is not accepted. After the first size mismatch of a task, the task is retried, because
    /// a cache may have made the mistake.
    private static func refused(_ failure: Failure, _ terms: DownloadTerms) -> ResponsePlan {
        failure.status == .sizeMismatch && !terms.hadMismatch ? .retry(failure, fromZero: true) : .fail(failure)
    }

    /// The plan for a 206 response. `offset`: the number of bytes in the part file.
    private static func part(
        _ head: ResponseHead, offset: UInt64, known: Checkpoint?, _ terms: DownloadTerms
    ) -> ResponsePlan {
        func startAgain(_ reason: String) -> ResponsePlan { .retry(unexpected(206, reason), fromZero: true) }
        // In a multipart response, Content-Range is inside the body (RFC 9110, section 15.3.7.2).
        if head.plainText("Content-Type").map(isMultipart) == true { return startAgain("in several parts") }
        guard !head.isContradictory("Content-Range") else { return startAgain("with two different Content-Ranges") }
        guard let text = head.value("Content-Range"), let range = ContentRange(text), let bytes = range.range else {
            return startAgain("without a valid Content-Range")
        }
        let first = terms.firstByte + offset
        guard bytes.lowerBound == first else {
            return startAgain("that starts at \(bytes.lowerBound) instead of \(first)")
        }
        if let failure = terms.refusal(ofTotal: range.size) { return refused(failure, terms) }
        let stated = terms.range?.size ?? range.size.map { $0 - terms.firstByte }
        if offset > 0, let size = known?.size, let stated, size != stated {
            return startAgain("of a file of \(stated) bytes that had \(size) before")
        }
        // Without a size, the engine cannot know whether the server has sent the last part.
        guard let size = stated ?? (offset > 0 ? known?.size : nil) else {
            return startAgain("without the size of the file")
        }
        guard size <= maximumFileSize else { return .fail(tooLong) }
        guard bytes.upperBound - terms.firstByte < size else {
            return startAgain("that ends behind the end of the file")
        }
        let length = ContentLength(head.fields)
        guard length == .unknown || length == .bytes(bytes.upperBound - bytes.lowerBound + 1) else {
            return startAgain("whose Content-Length is not that of its Content-Range")
        }
        let through = bytes.upperBound - terms.firstByte + 1
        guard offset > 0, let known else {
            return beginning(head, size: size, body: through == size ? .whole : .part(through: through), known, terms)
        }
        return continuation(head, size: size, through: through, known, terms)
    }

    /// The plan for the first bytes of the requested range.
    private static func beginning(
        _ head: ResponseHead, size: UInt64, body: BodyExtent, _ known: Checkpoint?, _ terms: DownloadTerms
    ) -> ResponsePlan {
        let validator = Validator(of: head)
        if let known, let before = known.size, before != size, validator.isSameRepresentation(as: known.validator) {
            return .fail(unexpected(206, "with \(size) bytes under the entity tag of \(before) bytes"))
        }
        if let failure = terms.refusal(ofType: head, known) { return .retry(failure, fromZero: false) }
        return accepted(size, validator, terms, body)
    }

    /// The plan for the rest of the file.
    private static func continuation(
        _ head: ResponseHead, size: UInt64, through: UInt64, _ known: Checkpoint, _ terms: DownloadTerms
    ) -> ResponsePlan {
        func startAgain(_ reason: String) -> ResponsePlan { .retry(unexpected(206, reason), fromZero: true) }
        if !terms.continuesByDigest, let difference = difference(of: head, to: known, bodyIsPart: true) {
            return startAgain(difference)
        }
        let facts = RepresentationMetadata(head, terms)
        // A 206 response to a request with If-Range may omit Content-Encoding (RFC 9110, section 15.3.7).
        if let coding = facts.contentEncoding, coding != known.facts.contentEncoding {
            return startAgain("with another Content-Encoding than before")
        }
        if let digest = facts.digest, let before = known.facts.digest, digest.algorithm == before.algorithm,
            digest != before
        {
            return startAgain("with another digest than before")
        }
        // Such a response may also omit Content-Type. The response with the first bytes had an accepted type.
        if head.bytes("Content-Type") != nil, let failure = terms.refusal(ofType: head, known) {
            return .retry(failure, fromZero: false)
        }
        if let failure = terms.refusal(ofSize: size) { return refused(failure, terms) }
        return .append(size: size, through: through)
    }

    private static func tooShort(_ terms: DownloadTerms) -> Failure {
        Failure(
            .sizeMismatch, "the server does not have \(terms.range?.text ?? "the bytes"), which the request wants",
            domain: .http, detail: 416)
    }

    /// The Content-Range of a 416 response; nil if there is no valid one, or if there are two different ones.
    private static func contentRange(of head: ResponseHead) -> ContentRange? {
        guard !head.isContradictory("Content-Range") else { return nil }
        return head.value("Content-Range").flatMap(ContentRange.init)
    }

    private static func unsatisfiable(
        _ head: ResponseHead, offset: UInt64, known: Checkpoint?, _ terms: DownloadTerms
    ) -> ResponsePlan {
        let range = contentRange(of: head)
        if let failure = terms.refusal(ofTotal: range?.size) { return refused(failure, terms) }
        let first = terms.firstByte + offset
        // If the size is the length of the part file, and the validator is the same, the part file is complete: the
        // connection of an earlier attempt broke after the last byte.
        if let known, let range, range.range == nil, range.size == first, known.size == nil || known.size == offset,
            terms.continuesByDigest || difference(of: head, to: known, bodyIsPart: false) == nil
        {
            return terms.refusal(ofSize: offset).map { refused($0, terms) } ?? .whole
        }
        return .retry(unexpected(416, "to a range that starts at \(first)"), fromZero: true)
    }

    /// Returns why the response may belong to another representation than the part file; nil if both belong to the same
    /// representation.
    ///
    /// A 206 response must repeat the entity tag of the response with the whole file (RFC 9110, section 15.3.7), but
    /// may omit Last-Modified. A 416 response may omit the entity tag and Last-Modified. If the validator is missing,
    /// the status alone proves that the representation is the same, because the status shows that the server has
    /// honoured If-Range. If the server had another representation, it would have ignored the range, and would have
    /// sent the whole file with status 200.
    private static func difference(of head: ResponseHead, to known: Checkpoint, bodyIsPart: Bool) -> String? {
        if let tag = known.validator.entityTag {
            guard isSame(head, "ETag", tag, ifAbsent: !bodyIsPart) else { return "with another entity tag than before" }
            // Some servers make the tag of something else than the bytes, such as the path.
            if let modified = known.validator.lastModified,
                !isSame(head, "Last-Modified", modified, ifAbsent: true)
            {
                return "with another Last-Modified than before"
            }
        } else if let modified = known.validator.lastModified {
            guard isSame(head, "Last-Modified", modified, ifAbsent: true) else {
                return "with another Last-Modified than before"
            }
            // The response with the whole file had no entity tag. So a response with a part of the same representation
            // has none (RFC 9110, section 15.3.7).
            guard !bodyIsPart || head.bytes("ETag") == nil else { return "with an entity tag that it did not have" }
        } else {
            return "for bytes that have no validator"
        }
        // When the program gives the task a new URL for the same file, the store empties the final URL of the
        // checkpoint. Then the final URLs are not compared, because the entity tag and the size prove that the file is
        // the same. The entity tag was compared above. The caller has compared the size, if the response states it.
        if known.finalURL.isEmpty, known.validator.entityTag != nil, known.size != nil { return nil }
        return isSameResource(head, known) ? nil : "from another address than before"
    }

    /// A validator distinguishes only the representations of one resource (RFC 9110, section 8.8.1), so the URL must be
    /// the same. If a server redirects each request to a signed link, each of these links has another query or another
    /// path. So with a strong entity tag, the query may differ. If the size is known, too, the path may also differ.
    private static func isSameResource(_ head: ResponseHead, _ known: Checkpoint) -> Bool {
        guard known.validator.entityTag != nil else { return isSame(head.finalURL, known.finalURL) }
        if isSameAddress(head.finalURL, known.finalURL) { return true }
        return known.size != nil && head.finalURL.hasAuthority(of: known.finalURL)
    }

    /// Whether all fields of this name have the value, byte for byte.
    private static func isSame(_ head: ResponseHead, _ name: String, _ value: String, ifAbsent: Bool) -> Bool {
        let values = head.allBytes(name)
        return values.isEmpty ? ifAbsent : values.allSatisfy { $0.elementsEqual(value.utf8) }
    }

    /// Whether the texts have the same bytes. Swift's `==` treats some different characters as equal.
    private static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    static func isSameAddress(_ left: String, _ right: String) -> Bool {
        left.withoutQuery.utf8.elementsEqual(right.withoutQuery.utf8)
    }

    private static func isMultipart(_ mediaType: String) -> Bool {
        mediaType.lowercased().hasPrefix("multipart/byteranges")
    }

    private static func unexpected(_ status: Int32, _ rest: String) -> Failure {
        Failure(
            .badResponse, "the server responded with status \(status) \(rest)", domain: .http, detail: Int64(status))
    }

    private static var unready: Failure {
        Failure(
            .httpStatus, "the server responded with status 202: it still prepares the file", domain: .http, detail: 202)
    }

    private static var tooLong: Failure {
        Failure(.tooLarge, "the server announced more bytes than a file can have; ask its operator what the file is")
    }
}

extension ResponseHead {
    /// Whether the server may have refused only the range. With a temporary status or with a demand for a pause, the
    /// server says that it refuses the request for now. The exception is 500, which applications send for requests that
    /// they do not expect. With 401, 407 and 511, a login is missing.
    fileprivate var mayRefuseRange: Bool {
        (400...599).contains(status) && ![401, 407, 511].contains(status) && pauseSeconds == nil
            && (status == 500 || !StatusList.transient.contains(status))
    }

    /// This head without the fields that describe an error page. If a 416 response shows that the part file is
    /// complete, the remaining fields describe the file.
    var withoutErrorPage: ResponseHead {
        var head = self
        head.status = 206
        head.fields.removeAll { field in !["ETag", "Last-Modified", "Date"].contains { field.isNamed($0) } }
        return head
    }
}

extension Failure {
    /// The failure for a response whose status is not accepted. `opensChallenges`: whether the session asks for
    /// credentials.
    static func status(of head: ResponseHead, opensChallenges: Bool) -> Failure {
        let server = head.status == 407 ? head.proxy.map { "the proxy \($0)" } ?? "the server" : "the server"
        let setting = "set asks_for_credentials of the stored configuration"
        let advice =
            switch head.status {
            case 401 where !opensChallenges: "; \(setting), or send the header Authorization"
            case 407 where !opensChallenges: "; \(setting), or proxy.user and proxy.password"
            default: ""
            }
        return Failure(
            .httpStatus, "\(server) responded with status \(head.status)\(advice)", domain: .http,
            detail: Int64(head.status))
    }
}
