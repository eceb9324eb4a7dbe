internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// A DELETE request for the resource of an upload that ended without success. The request ends when this object is
/// released.
final class UploadRemoval: TransferDelegate {
    private let runtime: any Runtime
    private let then: (Int32?) -> [EngineEffect]
    private var transfer: Transfer?
    private var status: Int32?

    init(
        _ request: TransferRequest, _ runtime: any Runtime, _ transport: Transport, cookies: CookieJar?,
        then: @escaping (Int32?) -> [EngineEffect]
    ) throws(Failure) {
        (self.runtime, self.then) = (runtime, then)
        transfer = try transport.start(request, cookies: cookies, self)
    }

    deinit { transfer?.cancel() }

    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        status = head.status
        // The body says nothing more, and could be endless.
        return .refuse
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow { .go }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        self.transfer = nil
        runtime.add(then(status))
    }
}

extension AbandonedUpload {
    /// The policy of the session, with the option of the request.
    fileprivate func policy(in session: SessionConfiguration) -> TransferPolicy {
        var policy = TransferPolicy(session)
        if let refusesPrivateAddresses { policy.refusesPrivateAddresses = refusesPrivateAddresses }
        return policy
    }
}

extension TransferRequest {
    /// The request that removes what a server has of the upload. Header fields of the upload's request are for the
    /// request's origin only.
    init(
        removing upload: AbandonedUpload, _ configuration: SessionConfiguration, credentials: SessionCredentials?
    ) throws(Failure) {
        guard upload.uploadProtocol != .s3 else {
            self = try Self.s3Removal(of: upload, configuration)
            return
        }
        let origin = try URLParser.origin(of: upload.url)
        let isSameOrigin = try origin == URLParser.origin(of: upload.requestURL)
        var session = configuration
        if !isSameOrigin || upload.isCrossOrigin { session.headers = [] }
        self.init(
            url: upload.url, headers: isSameOrigin ? upload.headers.filter { !$0.describesBody } : [],
            origin: origin, session: session, policy: upload.policy(in: configuration), credentials: credentials)
        protocolHeaders = upload.uploadProtocol.versionFields
        method = "DELETE"
    }

    private static func s3Removal(
        of upload: AbandonedUpload, _ configuration: SessionConfiguration
    ) throws(Failure) -> TransferRequest {
        let settings = upload.s3.completed(by: configuration.policy)
        let resource = UploadResource(.s3, url: upload.url)
        let fields = (upload.isCrossOrigin ? [] : configuration.headers) + upload.headers
        var session = configuration
        session.headers = []
        var request = TransferRequest(
            url: upload.url, headers: UploadProtocol.s3Fields(of: .list(resource, PartListing()), fields),
            origin: try URLParser.origin(of: upload.requestURL, settings), session: session,
            policy: upload.policy(in: configuration), credentials: nil)
        request.s3 = S3Request(settings)
        request.redirects = .none
        request.method = "DELETE"
        return request
    }
}
