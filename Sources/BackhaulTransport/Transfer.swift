internal import BackhaulModel
internal import CCurl

/// A transfer under way. Confined to the loop's thread.
///
/// Unsafe: libcurl's call-backs give pointers to bytes that live until they return, and are used no longer.
public final class Transfer {
    /// Body bytes handed to the delegate.
    public private(set) var bytesReceived: UInt64 = 0
    /// As far as it is known.
    public private(set) var metrics = TransferMetrics()
    public var isHTTP2: Bool { head.isHTTP2 }

    enum Phase {
        case waitingForHead
        /// The body of a response that redirects is read and dropped, so that the connection can be used again.
        case redirecting(to: String, skipped: Int)
        case receiving
        case refused
        /// Nothing more reaches the delegate.
        case over
    }

    let request: TransferRequest
    private(set) var url: String
    private(set) var origin: Origin
    private(set) var keepsHeaders = true
    private(set) var redirects = 0
    private(set) var phase = Phase.waitingForHead
    /// What we found wrong with the response ourselves.
    private(set) var violation: Failure?
    /// Boot-clock milliseconds.
    var lastHeardAt: Int64
    private(set) var isPaused = false

    var easy: EasyHandle?
    private weak var delegate: (any TransferDelegate)?
    private weak var transport: Transport?
    private var head = HeadCollector()

    private static let skippedBodyLimit = 64 * 1024

    init(_ request: TransferRequest, _ delegate: any TransferDelegate, _ transport: Transport, now: Int64) {
        self.request = request
        self.delegate = delegate
        self.transport = transport
        url = request.url
        origin = request.origin
        lastHeardAt = now
    }

    /// Ends the transfer; the delegate hears nothing more of it.
    public func cancel() {
        guard !isOver else { return }
        end()
        transport?.discard(self)
    }

    /// Goes on after a `pause`.
    public func resume() {
        guard isPaused, !isOver else { return }
        isPaused = false
        transport?.resume(self)
    }

    // MARK: - For Transport

    var isOver: Bool { if case .over = phase { true } else { false } }

    /// When the server has been silent for too long, in boot-clock milliseconds.
    var silentAt: Int64 { lastHeardAt + Int64(request.requestTimeoutMilliseconds) }

    var headIsWhole: Bool {
        switch phase {
        case .waitingForHead: false
        default: true
        }
    }

    func end() {
        phase = .over
        delegate = nil
    }

    func end(_ end: TransferEnd) {
        guard !isOver else { return }
        let delegate = delegate
        self.end()
        delegate?.transferEnded(self, end)
    }

    func takeMetrics(of easy: EasyHandle) {
        metrics = easy.metrics
        metrics.redirects = redirects
    }

    func follow(_ redirect: Redirect) {
        url = redirect.url
        origin = redirect.origin
        keepsHeaders = redirect.keepsHeaders
        redirects += 1
        head = HeadCollector()
        phase = .waitingForHead
    }

    /// Lines for libcurl's list: the host's for its origin, ours for everyone.
    var headerLines: [String] {
        var lines: [String] = []
        if keepsHeaders {
            // "Name;" is libcurl's spelling of an empty field; "Name:" would take one of its own away.
            lines = request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        }
        if request.offset > 0 {
            lines.append("Range: bytes=\(request.offset)-")
            if let validator = request.ifRange { lines.append("If-Range: \(validator)") }
        }
        return lines
    }

    // MARK: - libcurl's call-backs

    /// The number of bytes taken; anything else than what was given ends the transfer.
    func take(header bytes: UnsafeRawBufferPointer) -> Int {
        guard violation == nil, !isOver else { return 0 }
        heard()
        switch head.add(String(decoding: bytes, as: UTF8.self), size: bytes.count) {
        case .more:
            return bytes.count
        case .broken(let failure):
            violation = Failure(.badResponse, "\(origin.text): \(failure.message)")
            return 0
        case .complete:
            return takeHead() ? bytes.count : 0
        }
    }

    private func takeHead() -> Bool {
        if let location = Redirect.location(head) {
            phase = .redirecting(to: location, skipped: 0)
            return true
        }
        phase = .receiving
        let response = ResponseHead(
            status: head.status, finalURL: url, isHTTP2: head.isHTTP2, fields: head.fields,
            retryAfterSeconds: easy?.retryAfterSeconds)
        // A transfer whose delegate is gone is of use to nobody.
        switch delegate?.transfer(self, received: response) {
        case .receive where !isOver:
            return true
        case .refuse where !isOver:
            phase = .refused
            return false
        default:
            return false
        }
    }

    func take(body bytes: UnsafeRawBufferPointer) -> Int {
        heard()
        switch phase {
        case .redirecting(let location, let skipped):
            let total = skipped + bytes.count
            phase = .redirecting(to: location, skipped: total)
            return total <= Transfer.skippedBodyLimit ? bytes.count : 0
        case .receiving:
            break
        default:
            return 0
        }
        guard let delegate else { return 0 }
        let flow = delegate.transfer(self, received: bytes.bytes)
        if isOver { return 0 }
        if flow == .pause {
            isPaused = true
            return Int(bhl_pause)
        }
        bytesReceived += UInt64(bytes.count)
        return bytes.count
    }

    private func heard() {
        if let now = transport?.now { lastHeardAt = now }
    }
}
