internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// Makes tokens for Negotiate (RFC 4559) from the user's Kerberos tickets. While a name server or the Kerberos server
/// (KDC) does not respond, the call that makes a token blocks. So a separate thread makes the tokens. The functions of
/// this class are called on the thread of the event loop.
final class KerberosTokenProvider {
    typealias Token = Result<String, Failure>

    private struct Finished: Sendable {
        var number: UInt64
        var token: Token
    }

    private let loop: Loop
    private let finished = Lock<[Finished]>([])
    private var worker: Worker<GSSLibrary?>?
    private var wakeUp: EventFD?
    private var watch: Watch?
    private var waiting: [UInt64: (Token) -> Void] = [:]
    private var lastNumber: UInt64 = 0

    init(_ loop: Loop) { self.loop = loop }

    /// Makes a token for the server. Calls `then` one time, after this function has returned. If the provider is freed
    /// before the token is ready, `then` is not called.
    func obtain(for server: String, then: @escaping (Token) -> Void) throws(Failure) {
        let (worker, wakeUp) = try open()
        lastNumber += 1
        waiting[lastNumber] = then
        let (number, finished) = (lastNumber, finished)
        worker.post { library in
            let token = KerberosTokenProvider.token(library, for: server)
            finished.withLock { $0.append(Finished(number: number, token: token)) }
            wakeUp.set()
        }
    }

    private func open() throws(Failure) -> (Worker<GSSLibrary?>, EventFD) {
        if let worker, let wakeUp { return (worker, wakeUp) }
        do {
            let worker = try Worker<GSSLibrary?>(name: "bh-tickets", make: { GSSLibrary() })
            let wakeUp = try EventFD()
            watch = try loop.watch(wakeUp.number, .readable) { [unowned self] _ in deliver() }
            (self.worker, self.wakeUp) = (worker, wakeUp)
            return (worker, wakeUp)
        } catch {
            throw Failure(.outOfResources, "no thread or descriptor is left for Negotiate: \(error)")
        }
    }

    private func deliver() {
        wakeUp?.clear()
        let all = finished.withLock { list in
            defer { list = [] }
            return list
        }
        for item in all { waiting.removeValue(forKey: item.number)?(item.token) }
    }

    private static func token(_ library: GSSLibrary?, for server: String) -> Token {
        guard let library else {
            return .failure(failure("Negotiate needs libgssapi_krb5, which is not installed"))
        }
        return library.token(for: "HTTP@\(server)").mapError { error in
            failure("there is no Kerberos ticket for \(server) (\(error.reason)); get one with kinit")
        }
    }

    private static func failure(_ message: String) -> Failure { Failure(.authenticationRequired, message) }
}

/// The functions of libgssapi_krb5, which stay loaded.
private struct GSSLibrary: Sendable {
    struct Refusal: Error { var reason: String }

    // Unsafe: these are pointers to functions that are never unloaded. Memory that they return is copied and freed
    // within one call.
    nonisolated(unsafe) private let functions: bhl_gss

    init?() {
        var functions = bhl_gss()
        guard bhl_gss_load(&functions) == 1 else { return nil }
        self.functions = functions
    }

    /// Makes a token in base64, the encoding that the header field requires.
    func token(for service: String) -> Result<String, Refusal> {
        var size = 0
        var reason = [CChar](repeating: 0, count: 256)
        var functions = functions
        guard let bytes = bhl_gss_token(&functions, service, &size, &reason, reason.count) else {
            let text = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            return .failure(Refusal(reason: PlainText.of(text, atMost: 200)))
        }
        defer { free(bytes) }
        return .success(Base64.text(Array(UnsafeBufferPointer(start: bytes, count: size))))
    }
}
