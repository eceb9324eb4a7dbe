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
    private var worker: Worker<GSSLibrary?>?
    private var inbox: LoopInbox<Finished>?
    private var waiting: [UInt64: (Token) -> Void] = [:]
    private var lastNumber: UInt64 = 0

    init(_ loop: Loop) { self.loop = loop }

    /// Makes a token for the server. Calls `then` one time, after this function has returned. If the provider is freed
    /// before the token is ready, `then` is not called.
    func obtain(for server: String, then: @escaping (Token) -> Void) throws(Failure) {
        let (worker, sender) = try open()
        lastNumber += 1
        waiting[lastNumber] = then
        let number = lastNumber
        worker.post { library in
            sender.send(Finished(number: number, token: KerberosTokenProvider.token(library, for: server)))
        }
    }

    private func open() throws(Failure) -> (Worker<GSSLibrary?>, LoopInbox<Finished>.Sender) {
        if let worker, let inbox { return (worker, inbox.sender) }
        do {
            let worker = try Worker<GSSLibrary?>(name: "bh-tickets", make: { GSSLibrary() })
            let inbox = try LoopInbox<Finished>(loop) { [weak self] item in
                self?.waiting.removeValue(forKey: item.number)?(item.token)
            }
            (self.worker, self.inbox) = (worker, inbox)
            return (worker, inbox.sender)
        } catch {
            throw Failure(.outOfResources, "no thread or descriptor is left for Negotiate: \(error)")
        }
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
