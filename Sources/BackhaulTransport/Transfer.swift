internal import BackhaulLoop
internal import BackhaulModel
internal import CCurl

/// A request under way, redirects included. Confined to the loop's thread.
public final class Transfer {
    let request: TransferRequest
    weak var delegate: (any TransferDelegate)?
    private unowned let transport: Transport
    var easy: EasyHandle?
    private(set) var isOver = false
    private(set) var isPaused = false
    private(set) var lastByte: Int64
    /// Body bytes handed to the delegate.
    public private(set) var bytesReceived: UInt64 = 0
    public private(set) var isHTTP2 = false

    private var url: String
    private var origin: Origin
    private var redirects = 0
    private var parser = HeadParser()
    private var headIsOut = false
    private var isRedirect = false
    /// Why we broke off ourselves, which curl can only call a write error.
    private var ownEnd: TransferEnd?

    init(_ request: TransferRequest, _ delegate: any TransferDelegate, transport: Transport) {
        self.request = request
        self.delegate = delegate
        self.transport = transport
        url = request.url
        origin = request.origin
        lastByte = transport.now
    }

    /// No delegate call comes after it.
    public func cancel() {
        guard !isOver else { return }
        isOver = true
        transport.remove(self)
    }

    /// Lets the bytes come that were paused.
    public func resume() {
        guard isPaused, !isOver else { return }
        isPaused = false
        lastByte = transport.now
        transport.unpause(self)
    }

    // MARK: For Transport

    func prepare(_ easy: EasyHandle) {
        self.easy = easy
        parser = HeadParser()
        isRedirect = false
        lastByte = transport.now
        easy.prepare(
            Unmanaged.passUnretained(self).toOpaque(),
            header: { bytes, size, count, context in
                Transfer.from(context)?.received(headerLine: bytes, size &* count) ?? 0
            },
            body: { bytes, size, count, context in Transfer.from(context)?.received(body: bytes, size &* count) ?? 0 })
        easy.apply(request, url: url, toOwnOrigin: origin == request.origin)
    }

    // Unretained: the transport holds every transfer for as long as curl knows it.
    static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    func isSilent(at now: Int64) -> Bool {
        !isPaused && now - lastByte >= Int64(request.requestTimeoutMilliseconds)
    }

    var silence: Failure {
        Failure(
            .requestTimeout,
            "\(origin.text) sent nothing for \(request.requestTimeoutMilliseconds) milliseconds")
    }

    /// Curl is done with it. True when it goes on to another URL.
    func finished(_ code: CURLcode) -> Bool {
        guard !isOver else { return false }
        if isRedirect, code == CURLE_OK || ownEnd != nil || code == CURLE_WRITE_ERROR {
            ownEnd = nil
            return redirect()
        }
        if let ownEnd {
            end(ownEnd)
        } else if code == CURLE_OK {
            // Without a body and without headers there is no answer at all, and curl says so itself.
            end(headIsOut ? .complete : .failed(noAnswer, isTransient: true))
        } else {
            let (failure, isTransient) = CurlFailure.failure(code, easy?.errorDetail ?? "", server: origin.text)
            end(.failed(failure, isTransient: isTransient))
        }
        return false
    }

    func end(_ end: TransferEnd) {
        guard !isOver else { return }
        isOver = true
        delegate?.transferEnded(self, end)
    }

    private var noAnswer: Failure { Failure(.connectionLost, "\(origin.text) closed without an answer") }

    // MARK: Redirects, followed here so that the host's headers stay with their origin

    private func redirect() -> Bool {
        let target = easy?.redirectURL ?? ""
        do throws(Failure) {
            guard redirects < request.maximumRedirects else {
                throw Failure(
                    .redirectRefused, "\(origin.text) redirected more than \(request.maximumRedirects) times")
            }
            let next: Origin
            do throws(Failure) {
                next = try WebAddress.origin(of: target)
            } catch {
                throw Failure(.redirectRefused, "\(origin.text) redirected to a URL that is refused: \(error.message)")
            }
            if origin.scheme == "https", next.scheme == "http" {
                throw Failure(.redirectRefused, "\(origin.text) redirected from https to http")
            }
            redirects += 1
            url = target
            origin = next
            return true
        } catch {
            end(.failed(error, isTransient: false))
            return false
        }
    }

    // MARK: Curl's call-backs

    private func received(headerLine bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard !isOver else { return 0 }
        lastByte = transport.now
        // What follows the body is a trailer.
        guard !headIsOut, !isRedirect, let bytes else { return count }
        let line = UnsafeRawBufferPointer(start: bytes, count: count).bindMemory(to: UInt8.self)
        switch parser.add(line.span) {
        case .more: return count
        case .tooLarge:
            ownEnd = .failed(
                Failure(
                    .badResponse, "\(origin.text) sent a header of more than \(HeadParser.sizeLimit) bytes or "
                        + "\(HeadParser.countLimit) fields"), isTransient: false)
            return 0
        case .head: return receivedHead() ? count : 0
        }
    }

    private func receivedHead() -> Bool {
        isHTTP2 = parser.isHTTP2
        if (300...399).contains(parser.status), parser.status != 304, hasLocation {
            isRedirect = true
            return true
        }
        headIsOut = true
        let head = ResponseHead(
            status: parser.status, finalURL: url, isHTTP2: parser.isHTTP2, fields: parser.fields,
            retryAfterSeconds: easy?.retryAfterSeconds)
        switch delegate?.transfer(self, received: head) ?? .refuse {
        case .receive: return !isOver
        case .refuse:
            ownEnd = .refused
            return false
        }
    }

    private var hasLocation: Bool {
        parser.fields.contains { $0.name.lowercased() == "location" && !$0.value.isEmpty }
    }

    private func received(body bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard !isOver, let bytes else { return 0 }
        lastByte = transport.now
        // Nobody reads the body of a redirect; a long one is broken off.
        if isRedirect { return count <= 16 << 10 ? count : 0 }
        let span = UnsafeRawBufferPointer(start: bytes, count: count).bytes
        switch delegate?.transfer(self, received: span) ?? .go {
        case .go:
            bytesReceived += UInt64(count)
            return isOver ? 0 : count
        case .pause:
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        }
    }
}
