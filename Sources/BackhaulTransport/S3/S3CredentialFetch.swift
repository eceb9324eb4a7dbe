internal import BackhaulLoop
internal import BackhaulModel

/// Fetches credentials of S3 over HTTP, from a container's host or from the metadata of a virtual machine.
final class S3CredentialFetch: TransferDelegate {
    private enum Step {
        case container
        case token
        case role(token: String)
        case credentials(token: String)
    }

    private unowned let transport: Transport
    private let base: String
    private let authorization: String?
    private var step: Step
    private var transfer: Transfer?
    private var timer: LoopTimer?
    private var status: Int32 = 0
    private var body: [UInt8] = []
    /// Called one time, with nil if the server has no credentials.
    private let then: (S3Credentials?) -> Void

    /// A virtual machine responds at once, and any other machine has no such address.
    private static let instanceMilliseconds: UInt32 = 1_000
    private static let containerMilliseconds: UInt32 = 5_000
    private static let bodyLimit = 64 << 10
    /// The longest time of all requests together. A server could otherwise send a byte a second, without an end.
    var limitMilliseconds: Int64 = 30_000

    init(
        container url: String, _ authorization: String?, _ transport: Transport,
        then: @escaping (S3Credentials?) -> Void
    ) {
        (base, self.authorization, self.transport, self.then, step) = (url, authorization, transport, then, .container)
    }

    init(instance url: String, _ transport: Transport, then: @escaping (S3Credentials?) -> Void) {
        (base, authorization, self.transport, self.then, step) = (url, nil, transport, then, .token)
    }

    /// `then` may be called before this function returns.
    func start() {
        let timer = transport.loop.timer { [unowned self] in giveUp() }
        timer.start(milliseconds: limitMilliseconds)
        self.timer = timer
        sendNext()
    }

    private func giveUp() {
        transfer?.cancel()
        transfer = nil
        finish(nil)
    }

    private func finish(_ credentials: S3Credentials?) {
        timer = nil
        then(credentials)
    }

    private func sendNext() {
        let roles = base + "/latest/meta-data/iam/security-credentials/"
        switch step {
        case .container:
            send("GET", base, authorization.map { [HeaderField("Authorization", $0)] } ?? [])
        case .token:
            send("PUT", base + "/latest/api/token", [HeaderField("X-aws-ec2-metadata-token-ttl-seconds", "21600")])
        case .role(let token): send("GET", roles, [HeaderField("X-aws-ec2-metadata-token", token)])
        case .credentials(let token):
            let role = String(decoding: body, as: UTF8.self).prefix { !$0.isWhitespace }
            send("GET", roles + role, [HeaderField("X-aws-ec2-metadata-token", token)])
        }
    }

    private func send(_ method: String, _ url: String, _ headers: [HeaderField]) {
        do throws(Failure) {
            let origin = try URLParser.origin(of: url)
            let milliseconds =
                if case .container = step { Self.containerMilliseconds } else { Self.instanceMilliseconds }
            var request = TransferRequest(
                url: url, headers: headers, requestTimeoutMilliseconds: milliseconds, origin: origin)
            request.method = method
            request.redirects = .none
            request.proxy.url = "none"
            (status, body) = (0, [])
            transfer = try transport.start(request, self)
        } catch {
            finish(nil)
        }
    }

    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        status = head.status
        return .receive
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        bytes.withUnsafeBytes { body.append(contentsOf: $0.prefix(Self.bodyLimit - body.count)) }
        if body.count == Self.bodyLimit { giveUp() }
        return .go
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        self.transfer = nil
        guard end == .complete, status == 200 else { return finish(nil) }
        switch step {
        case .container, .credentials: finish(S3Credentials(json: body))
        case .token:
            step = .role(token: String(decoding: body, as: UTF8.self))
            sendNext()
        case .role(let token):
            step = .credentials(token: token)
            sendNext()
        }
    }
}
