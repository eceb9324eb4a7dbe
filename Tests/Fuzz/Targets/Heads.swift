import BackhaulModel
import CCurl
import Glibc

@testable import BackhaulTransport

/// A response is read three times: by libcurl, by the transport from the lines that libcurl passes, and by the
/// transport from the bytes as they came. If the transport accepts the response, the three readings must agree.
enum Heads {
    /// A larger response would not fit into the buffer of a socket.
    private static let longest = 64 * 1024

    static func check(_ bytes: [UInt8]) throws {
        guard bytes.count <= longest else { return }
        let reader = try Reader(bytes)
        guard reader.isAccepted, let framing = reader.framing else { return }
        var (raw, body) = (HeadCollector(), bytes[...])
        while !raw.isComplete, !body.isEmpty {
            let end = body.firstIndex(of: 0x0A).map { $0 + 1 } ?? body.endIndex
            if case .broken(let reason) = raw.add(body[..<end]) { throw Violation(description: "refused: \(reason)") }
            body = body[end...]
        }
        try require(raw.isComplete, "the bytes as they came are not a whole head")
        try requireEqual(raw.status, reader.head.status, "status")
        try requireEqual(raw.fields, reader.head.fields, "fields")
        try requireEqual(reader.curlStatus, Int(raw.status), "status of libcurl")
        try requireEqual(reader.curlFields, raw.fields.map { normalised($0.name, $0.value) }, "fields of libcurl")
        switch framing {
        case .none: try requireEqual(reader.body, [], "body")
        case .length(let length):
            // The transport ends a body whose length libcurl does not use.
            let received = reader.ignoresLength ? reader.body.prefix(Int(clamping: length)) : reader.body[...]
            try requireEqual(received, body.prefix(Int(clamping: length)), "body")
        case .untilClose: try requireEqual(reader.body, Array(body), "body")
        case .chunked: try requireEqual(reader.body, chunks(body), "body in chunks")
        case .invalid(let reason): throw Violation(description: "accepted: \(reason)")
        }
    }

    /// Returns the content of the chunks. The fuzzer has no other decoder of the transfer coding than libcurl's.
    private static func chunks(_ coded: ArraySlice<UInt8>) -> [UInt8] {
        var (content, rest) = ([UInt8](), coded)
        while let end = rest.firstIndex(of: 0x0A) {
            let digits = rest.prefix { Character(Unicode.Scalar($0)).isHexDigit }
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
            guard size > 0 else { break }
            content += rest[(end + 1)...].prefix(size)
            rest = rest[(end + 1)...].dropFirst(size)
            rest = rest.drop { $0 == 0x0D }.dropFirst()
        }
        return content
    }

    /// A field with each run of white space in its value as one space. libcurl keeps other white space of a folded line
    /// than the transport does.
    fileprivate static func normalised(_ name: String, _ value: some Sequence<UInt8>) -> [String] {
        let words = Array(value).split { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return [name, String(decoding: Array(words.joined(separator: [0x20])), as: UTF8.self)]
    }
}

/// Performs one request with a handle as the transport makes it. The server is a socket of this thread: the call-back
/// before the request accepts the connection, and sends the whole response.
///
/// Unsafe: libcurl uses the pointer to this object only during the initializer.
private final class Reader {
    var head = HeadCollector()
    var framing: ResponseFraming?
    var body: [UInt8] = []
    private(set) var ignoresLength = false
    private(set) var isAccepted = false
    private(set) var curlStatus = 0
    private(set) var curlFields: [[String]] = []
    private let easy: EasyHandle
    private let response: [UInt8]
    private let listener: Listener
    private var connection: Int32 = -1

    init(_ bytes: [UInt8]) throws {
        response = bytes
        listener = try Listener()
        let identity = ConnectionIdentity(
            caFile: nil, certificates: CertificateSet(), tls: TLSConfiguration(), httpVersion: .http1, proxy: nil,
            proxyLines: [], abandoned: 0)
        easy = try EasyHandle(SocketTable(), identity)
        let receiver = Unmanaged.passUnretained(self).toOpaque()
        try easy.prepare(
            url: "http://127.0.0.1:1/", version: .http1, isEncrypted: false, timeoutMilliseconds: 10_000,
            bypassesDNSCache: false, refusesPrivateAddresses: false, needsNewConnection: true, headers: [],
            credentials: HopCredentials(), receiver: receiver)
        bhl_easy_set_string(easy.handle, CURLOPT_ABSTRACT_UNIX_SOCKET, listener.name)
        setCallbacks()
        let code = curl_easy_perform(easy.handle)
        close(connection)
        try require(code != CURLE_COULDNT_CONNECT, "libcurl cannot connect to the listener")
        isAccepted = code == CURLE_OK && head.isComplete
        bhl_easy_get_long(easy.handle, CURLINFO_RESPONSE_CODE, &curlStatus)
    }

    /// Reads the fields at the end of the head, because libcurl appends a folded line of the trailer to the last field
    /// that it has stored, which may be one of the head.
    private func readCurlFields() {
        var field = curl_easy_nextheader(easy.handle, UInt32(CURLH_HEADER), -1, nil)
        while let found = field {
            let value = UnsafeRawBufferPointer(start: found.pointee.value, count: strlen(found.pointee.value))
            curlFields.append(Heads.normalised(String(cString: found.pointee.name), value))
            field = curl_easy_nextheader(easy.handle, UInt32(CURLH_HEADER), -1, found)
        }
    }

    private func setCallbacks() {
        bhl_easy_set_receiver(easy.handle, CURLOPT_HEADERFUNCTION, takeHeader)
        bhl_easy_set_receiver(easy.handle, CURLOPT_WRITEFUNCTION, takeBody)
        bhl_easy_set_before_request(easy.handle) { reader, _, _, _, _ in
            Reader.of(reader).respond() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        // libcurl's own functions take the place of those that the transport has set.
        bhl_easy_set_resolver_start(easy.handle, nil, nil)
        bhl_easy_set_open_socket(easy.handle, nil, nil)
        bhl_easy_set_close_socket(easy.handle, nil, nil)
    }

    /// Returns whether the whole response is in the buffer of the connection.
    private func respond() -> Bool {
        connection = accept(listener.descriptor, nil, nil)
        return send(connection, response, response.count, 0) == response.count
            && shutdown(connection, Int32(SHUT_WR)) == 0
    }

    /// As `Transfer.take(header:)`.
    func take(header line: UnsafeRawBufferPointer) -> Bool {
        switch head.add(line) {
        case .broken: return false
        case .interim, .more: return !head.isHTTP2
        case .complete:
            readCurlFields()
            let framing = ResponseFraming(head, method: "GET")
            self.framing = framing
            ignoresLength = easy.contentLength == nil
            if case .invalid = framing { return false }
            return easy.agrees(with: head, framing)
        }
    }

    static func of(_ pointer: UnsafeMutableRawPointer?) -> Reader {
        Unmanaged<Reader>.fromOpaque(pointer!).takeUnretainedValue()
    }
}

private let takeHeader: curl_write_callback = { data, size, count, reader in
    let line = UnsafeRawBufferPointer(start: data, count: size &* count)
    return Reader.of(reader).take(header: line) ? line.count : 0
}

private let takeBody: curl_write_callback = { data, size, count, reader in
    Reader.of(reader).body += UnsafeRawBufferPointer(start: data, count: size &* count)
    return size &* count
}

/// A listening Unix socket with an abstract name that the kernel chooses.
private final class Listener {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    private(set) var name = ""

    init() throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var size = socklen_t(MemoryLayout<sa_family_t>.size)
        let isNamed = withUnsafeMutableBytes(of: &address) { bytes in
            // Unsafe: a sockaddr_un is passed as its general form, with the size of the part that the kernel may use.
            let general = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            guard bind(descriptor, general, size) == 0, listen(descriptor, 1) == 0 else { return false }
            size = socklen_t(bytes.count)
            return getsockname(descriptor, general, &size) == 0
        }
        try require(isNamed, "the listener has no name")
        let path = Int(size) - MemoryLayout<sa_family_t>.size
        withUnsafeBytes(of: &address.sun_path) { name = String(decoding: $0.prefix(path).dropFirst(), as: UTF8.self) }
    }

    deinit { close(descriptor) }
}
