/// The options for a download that matter to the decisions of `DownloadMachine`, the state machine of a download. The
/// host, which is the program that embeds the library, has set these options.
public struct DownloadTerms: Equatable, Sendable {
    public var url = ""
    public var method = "GET"
    /// Whether a 401 or 407 response opens a challenge, for which the task waits until the host gives a credential.
    /// Such a response opens a challenge even if `acceptedStatuses` has its status.
    public var opensChallenges = false
    public var acceptedStatuses = StatusList.successful
    public var retriedStatuses = StatusList.transient
    public var maximumSize: UInt64?
    var acceptedTypes: MediaRanges?
    public var expectedSize: UInt64?
    public var checksum: Checksum?
    public var ignoresDigests = false
    /// Whether an existing file with the stated checksum and size is kept, without a request to the server.
    public var skipsExisting = false
    public var isOnlyIfChanged = false
    /// The part of the resource that becomes the file; nil: all of it.
    public var range: ByteRange?
    public var isNamedByServer = false
    /// Whether a later request with the same destination and idempotency key can continue the part file.
    public var isContinuable = false
    /// Whether an earlier attempt (run of the download) ended with a wrong digest or size.
    public var hadMismatch = false
    /// If an earlier attempt found the file system full: how many bytes of the file were not stored yet. If the size of
    /// the file is unknown, this is an assumed number. Nil if no such attempt is known.
    public var neededSpace: UInt64?
    /// Whether the attempt has a slot, which a request needs. Without a slot, the attempt only finishes a sealed file.
    public var mayRequest = true

    public init() {}

    public init(_ request: Request, _ session: SessionConfiguration) {
        url = request.url
        opensChallenges = session.asksForCredentials
        skipsExisting = request.ifExists == .skip
        isContinuable = request.destination != nil && request.idempotencyKey != nil
        acceptedStatuses = session.acceptedStatuses
        retriedStatuses = session.retryStatuses
        maximumSize = session.maximumSize
        acceptedTypes = session.policy.acceptedTypes.flatMap(MediaRanges.init)
        guard request.hasOptions else { return }
        let options = request.options
        let policy = TransferPolicy(session, options.policy)
        method = request.method
        acceptedStatuses = policy.acceptedStatuses
        retriedStatuses = policy.retryStatuses
        maximumSize = policy.maximumSize
        acceptedTypes = policy.acceptedTypes.flatMap(MediaRanges.init)
        expectedSize = options.expectedSize
        checksum = options.checksum
        range = options.range
        // The store does not record of which bytes a retained part file is.
        isContinuable = isContinuable && range == nil
        // A server states digests of the whole resource.
        ignoresDigests = options.ignoresDigests || range != nil
        isOnlyIfChanged = options.isOnlyIfChanged
        isNamedByServer = options.isNamedByServer
    }

    /// Whether an attempt may continue a part file without a validator (ETag or Last-Modified), because the digest in
    /// the request decides at the end whether the bytes belong together. After a wrong digest, the validators decide
    /// again.
    var continuesByDigest: Bool { checksum != nil && method == "GET" && !hadMismatch }

    /// Whether the host wants the response with status 202 even if its Retry-After shows that the file is not ready.
    var acceptsUnreadyFiles: Bool { acceptedStatuses != .successful && acceptedStatuses.contains(202) }

    /// The failure of a response whose media type is not accepted, or that is probably a page in place of the file.
    func refusal(ofType head: ResponseHead, _ known: Checkpoint?) -> Failure? {
        if let acceptedTypes {
            let type = head.plainText("Content-Type")
            guard !acceptedTypes.contain(type) else { return nil }
            return Failure(
                .unexpectedType,
                "the file has the media type \(type ?? "application/octet-stream, which is the default")"
                    + ", which accepted_types does not contain")
        }
        guard PageSuspicion.isSuspicious(head, of: url, known) || PageSuspicion.isLogin(head, of: url) else {
            return nil
        }
        return PageSuspicion.failure(head, "in place of the file")
    }

    /// The first and the last byte to request for the rest of the file from `offset` on. Nil: no range is requested.
    /// `last`: nil if the rest of the resource is requested.
    public func requestedBytes(from offset: UInt64) -> (first: UInt64, last: UInt64?)? {
        guard let range else { return offset > 0 ? (offset, nil) : nil }
        return (range.start + offset, range.size.map { range.start + $0 - 1 })
    }

    /// The offset in the resource of the first byte of the file.
    var firstByte: UInt64 { range?.start ?? 0 }

    /// The failure of a resource of `total` bytes, if it does not have all bytes of the range.
    func refusal(ofTotal total: UInt64?) -> Failure? {
        guard let range, let total, range.bytes(of: total) == nil else { return nil }
        return Failure(
            .sizeMismatch, "the resource has \(total) bytes, so it does not have \(range.text), which the request wants"
        )
    }

    /// The failure of a file of this size, if the host's options exclude the size; nil if they allow it.
    func refusal(ofSize size: UInt64) -> Failure? {
        if let maximumSize, size > maximumSize {
            return Failure(
                .tooLarge,
                "the file has \(size) bytes, more than maximum_size, \(maximumSize); raise maximum_size to accept it")
        }
        guard let expectedSize, size != expectedSize else { return nil }
        return Failure(
            .sizeMismatch,
            "the file has \(size) bytes, not the \(expectedSize) of expected_size; ask the file's publisher")
    }

    /// The failure of a file if this many bytes have arrived and more bytes may follow. Nil if the options may allow
    /// the final size.
    func refusal(ofAtLeast size: UInt64) -> Failure? {
        if let expectedSize, size <= expectedSize, size <= maximumSize ?? .max { return nil }
        if expectedSize == nil, size <= maximumSize ?? .max { return nil }
        return refusal(ofSize: size)
    }

    /// The failure of a file whose digest is not the one that the host or the server has stated.
    static func mismatch(_ found: Checksum, _ wanted: Checksum, isServers: Bool) -> Failure {
        Failure(
            .checksumMismatch,
            "the file has the digest \(found.text), not \(wanted.text) as "
                + (isServers ? "the server says" : "the request says"))
    }

    /// Whether a response with this status has no body, even if its head states a length (RFC 9110, sections 9.3.2,
    /// 15.3.5, 15.3.6 and 15.4.5).
    func hasNoBody(_ status: Int32) -> Bool { method == "HEAD" || [204, 205, 304].contains(status) }
}
