internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// What both kinds ask of the transport, and tell of its answers.
extension TaskRunner {
    /// The body on its way from the disk, if there is one.
    func makeFeed(opened: @escaping () -> Void = {}, failed: @escaping (Failure) -> Void) -> BodyFeed? {
        guard let body = task.request.options.body else { return nil }
        return BodyFeed(BodyLayout(body), of: self, opened: opened, failed: failed)
    }

    func transferRequest(offset: UInt64 = 0, ifRange: String? = nil) -> TransferRequest {
        var headers = task.request.headers
        if let type = feed?.layout.contentType { headers.append(HeaderField("Content-Type", type)) }
        var session = configuration
        if task.request.isElsewhere { session.headers = [] }
        var request = TransferRequest(
            url: task.request.url, headers: headers, origin: task.origin, session: session, policy: policy,
            credentials: core.credentials[task.session])
        request.offset = offset
        request.ifRange = ifRange
        request.secrets = refreshedSecrets
        request.looksUpAgain = task.attempts > 0
        request.method = task.request.method
        request.canBeRepeated = policy.mayRepeat(task.request.method)
        // How the server takes the request is not known: the body is better asked for before it is sent in vain.
        if isProbe, let size = feed?.size, size >= Self.probedBodySize { request.expectation = .always }
        if isLimited, request.httpVersion == .standard { request.httpVersion = .http1 }
        return request
    }

    /// Sooner sent than asked for.
    private static let probedBodySize: UInt64 = 64 << 10
}
