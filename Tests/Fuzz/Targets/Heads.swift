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
        case .length(let length): try requireEqual(reader.body, Array(body.prefix(Int(clamping: length))), "body")
        case .untilClose: try requireEqual(reader.body, Array(body), "body")
        case .chunked: try require(reader.body.count < max(1, body.count), "a body in chunks is longer than its chunks")
        case .invalid(let reason): throw Violation(description: "accepted: \(reason)")
        }
    }

    /// A field with each run of white space in its value as one space. libcurl keeps other white space of a folded line
    /// than the transport does.
    fileprivate static func normalised(_ name: String, _ value: some Sequence<UInt8>) -> [String] {
        let words = Array(value).split { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return [name, String(decoding: Array(words.joined(separator: [0x20])), as: UTF8.self)]
    }
}

/// Performs one request with a handle as the transport makes it. The response is in the socket before the request is
/// sent.
///
/// Unsafe: libcurl uses the pointer to this object only during the initializer.
private final class Reader {
    var head = HeadCollector()
    var framing: ResponseFraming?
    var body: [UInt8] = []
    private(set) var isAccepted = false
    private(set) var curlStatus = 0
    private(set) var curlFields: [[String]] = []
    private let easy: EasyHandle
    fileprivate var socket: Int32 = -1

    init(_ bytes: [UInt8]) throws {
        let identity = ConnectionIdentity(
            caFile: nil, certificates: CertificateSet(), tls: TLSConfiguration(), httpVersion: .http1, proxy: nil,
            proxyLines: [], abandoned: 0)
        easy = try EasyHandle(SocketTable(), identity)
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else { return }
        socket = pair[0]
        defer { close(pair[1]) }
        guard send(pair[1], bytes, bytes.count, 0) == bytes.count else { return }
        shutdown(pair[1], Int32(SHUT_WR))
        let receiver = Unmanaged.passUnretained(self).toOpaque()
        try easy.prepare(
            url: "http://127.0.0.1:1/", version: .http1, isEncrypted: false, timeoutMilliseconds: 10_000,
            bypassesDNSCache: false, needsNewConnection: true, headers: [], credentials: HopCredentials(),
            receiver: receiver)
        setCallbacks(receiver)
        let code = curl_easy_perform(easy.handle)
        isAccepted = code == CURLE_OK && head.isComplete
        bhl_easy_get_long(easy.handle, CURLINFO_RESPONSE_CODE, &curlStatus)
        var field = curl_easy_nextheader(easy.handle, UInt32(CURLH_HEADER), -1, nil)
        while let found = field {
            let value = UnsafeRawBufferPointer(start: found.pointee.value, count: strlen(found.pointee.value))
            curlFields.append(Heads.normalised(String(cString: found.pointee.name), value))
            field = curl_easy_nextheader(easy.handle, UInt32(CURLH_HEADER), -1, found)
        }
    }

    private func setCallbacks(_ receiver: UnsafeMutableRawPointer) {
        bhl_easy_set_receiver(easy.handle, CURLOPT_HEADERFUNCTION, takeHeader)
        bhl_easy_set_receiver(easy.handle, CURLOPT_WRITEFUNCTION, takeBody)
        bhl_easy_set_before_request(easy.handle) { _, _, _, _, _ in CURL_PREREQFUNC_OK }
        bhl_easy_set_resolver_start(easy.handle, { _, _, _ in 0 }, nil)
        bhl_easy_set_open_socket(easy.handle, { reader, _, _ in Reader.of(reader).socket }, receiver)
        bhl_easy_set_close_socket(easy.handle, { close($1) }, nil)
        // The socket is connected already. CCurl has no function for this option.
        let connected: curl_sockopt_callback = { _, _, _ in CURL_SOCKOPT_ALREADY_CONNECTED }
        bhl_easy_set_pointer(
            easy.handle, CURLOPT_SOCKOPTFUNCTION, unsafeBitCast(connected, to: UnsafeMutableRawPointer.self))
    }

    /// As `Transfer.take(header:)`.
    func take(header line: UnsafeRawBufferPointer) -> Bool {
        switch head.add(line) {
        case .broken: return false
        case .more: return !head.isHTTP2
        case .complete:
            let framing = ResponseFraming(head, method: "GET")
            self.framing = framing
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
