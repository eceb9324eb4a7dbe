/// What to do with an answer, decided from its head alone. A resumed file is never a mixture: bytes are appended only
/// when the answer proves that they belong to the same representation and start where ours end.
public enum ResponsePlan: Equatable, Sendable {
    /// Append the body to the bytes that are there. `size`: of the whole file, if told.
    case append(size: UInt64?)
    /// What is there is of no use: write the body from the start.
    case startOver(size: UInt64?, Validator)
    /// All bytes are there already.
    case whole
    /// The body is not the file; try again. `fromZero`: what is there is not to be trusted.
    case retry(Failure, fromZero: Bool)
    /// The body is not the file, and trying again would not change that.
    case fail(Failure)

    /// - offset: bytes that are there, asked for with `Range: bytes=offset-`; 0 when the whole file was asked for.
    /// - known: what the checkpoint says of those bytes; nil when offset is 0.
    public static func decide(_ head: ResponseHead, offset: UInt64, known: Checkpoint?) -> ResponsePlan {
        switch head.status {
        case 206 where offset > 0:
            guard let known else { return .retry(unexpected("206", "which was not asked for"), fromZero: true) }
            return continuation(head, offset: offset, known: known)
        case 206:
            return .fail(unexpected("206", "to a request without a range"))
        case 416 where offset > 0:
            return unsatisfiable(head, offset: offset, known: known)
        case 200...299:
            return .startOver(size: contentLength(head), validator(of: head))
        default:
            let failure = Failure(
                .httpStatus, "the server answered with status \(head.status)", domain: .http, detail: Int64(head.status))
            return RetryPolicy.isTransient(httpStatus: head.status) ? .retry(failure, fromZero: false) : .fail(failure)
        }
    }

    /// Strong entity tag or, without one, Last-Modified when it is safe as a strong validator (RFC 9110, 8.8.2.2): at
    /// least one second older than the answer's Date, which two equal texts never are.
    public static func validator(of head: ResponseHead) -> Validator {
        let tag = head.value("ETag").flatMap { $0.hasPrefix("\"") && $0.utf8.count >= 2 ? $0 : nil }
        let modified = head.value("Last-Modified")
        return Validator(entityTag: tag, lastModified: modified == head.value("Date") ? nil : modified)
    }

    private static func continuation(_ head: ResponseHead, offset: UInt64, known: Checkpoint) -> ResponsePlan {
        guard let text = head.value("Content-Range"), let range = ContentRange(text), let bytes = range.range else {
            return .retry(unexpected("206", "without a valid Content-Range"), fromZero: true)
        }
        guard bytes.lowerBound == offset else {
            return .retry(unexpected("206", "that starts at \(bytes.lowerBound) instead of \(offset)"), fromZero: true)
        }
        if let size = known.size, let total = range.size, size != total {
            return .retry(unexpected("206", "of a file of \(total) bytes that had \(size) before"), fromZero: true)
        }
        let now = validator(of: head)
        if let before = known.validator.entityTag, let tag = now.entityTag, tag != before {
            return .retry(unexpected("206", "with another entity tag than before"), fromZero: true)
        }
        if known.validator.entityTag == nil, let modified = now.lastModified, modified != known.validator.lastModified {
            return .retry(unexpected("206", "with another Last-Modified than before"), fromZero: true)
        }
        return .append(size: range.size ?? known.size)
    }

    private static func unsatisfiable(_ head: ResponseHead, offset: UInt64, known: Checkpoint?) -> ResponsePlan {
        let total = head.value("Content-Range").flatMap(ContentRange.init)?.size
        let now = validator(of: head)
        // Our bytes are all of it, under the same validator: the connection broke after the last one.
        if let known, total == offset, known.size == nil || known.size == offset,
            now.entityTag == nil || now.entityTag == known.validator.entityTag
        {
            return .whole
        }
        return .retry(unexpected("416", "to a range that starts at \(offset)"), fromZero: true)
    }

    private static func contentLength(_ head: ResponseHead) -> UInt64? {
        head.value("Content-Length").flatMap { ContentRange.number(Substring($0)) }
    }

    private static func unexpected(_ status: String, _ rest: String) -> Failure {
        Failure(.badResponse, "the server answered \(status) \(rest)", domain: .http, detail: Int64(status) ?? 0)
    }
}
