internal import CCurl
internal import Glibc

/// Needed by: all versions of libcurl. Fixed in: none.
///
/// libcurl drops bytes that follow the last chunk of a body, and reuses the connection. Before version 8.5.0, it also
/// drops bytes that follow a response without a body. If more of these bytes arrive later, libcurl takes them for the
/// next response. Only debug messages report the dropped bytes, so this file depends on the texts of these messages. A
/// test at the first use proves that libcurl still sends these texts.
enum DroppedExcess {
    /// Whether libcurl reports dropped bytes, or closes the connection itself.
    static let isNoticed = [
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Content-Length: 0\r\n\r\n",
    ].allSatisfy { ExcessProbe.closesConnection(after: "HTTP/1.1 200 OK\r\n\($0)excess") }
}

extension EasyHandle {
    /// Makes libcurl close the connection at the end of the request if libcurl reads bytes beyond the response.
    func watchForExcess() {
        if DroppedExcess.isNoticed { bhl_easy_set_long(handle, CURLOPT_VERBOSE, 1) } else { forbidReuse() }
    }
}

/// Receives libcurl's debug messages. libcurl calls this closure only after `watchForExcess`.
let noticeExcess: curl_debug_callback = { easy, kind, text, size, _ in
    guard let easy, kind == CURLINFO_TEXT, let text else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: text, count: size)
    if bytes.starts(with: "Excess found".utf8) || bytes.starts(with: "Leftovers after chunking".utf8) {
        bhl_easy_set_long(easy, CURLOPT_FORBID_REUSE, 1)
    }
    return 0
}

/// A request to a socket of this process, which gets a prepared response.
///
/// Unsafe: libcurl has a pointer to the probe only within `closesConnection(after:)`.
struct ExcessProbe {
    private let listener: Int32
    private let response: String
    private var connection: Int32 = -1
    private var isClosed = false

    /// Returns whether libcurl closes the connection at the end of a request with this response.
    static func closesConnection(after response: String) -> Bool {
        var port: UInt16 = 0
        let listener = bhl_listen_locally(&port)
        guard listener >= 0 else { return false }
        defer { close(listener) }
        guard let handle = curl_easy_init() else { return false }
        var probe = ExcessProbe(listener: listener, response: response)
        return withUnsafeMutablePointer(to: &probe) { pointer in
            defer {
                curl_easy_cleanup(handle)
                if pointer.pointee.connection >= 0 { close(pointer.pointee.connection) }
            }
            bhl_easy_set_string(handle, CURLOPT_URL, "http://127.0.0.1:\(port)/")
            bhl_easy_set_string(handle, CURLOPT_PROXY, "")
            bhl_easy_set_long(handle, CURLOPT_NOSIGNAL, 1)
            bhl_easy_set_long(handle, CURLOPT_TIMEOUT_MS, 1_000)
            bhl_easy_set_long(handle, CURLOPT_VERBOSE, 1)
            bhl_easy_set_debug(handle, noticeExcess)
            bhl_easy_set_receiver(handle, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size &* count }
            bhl_easy_set_pointer(handle, CURLOPT_PREREQDATA, pointer)
            bhl_easy_set_before_request(handle) { probe, _, _, _, _ in
                probe?.assumingMemoryBound(to: ExcessProbe.self).pointee.respond()
                return CURL_PREREQFUNC_OK
            }
            bhl_easy_set_close_socket(
                handle,
                { probe, number in
                    probe?.assumingMemoryBound(to: ExcessProbe.self).pointee.isClosed = true
                    return close(number)
                }, pointer)
            return curl_easy_perform(handle) == CURLE_OK && pointer.pointee.isClosed
        }
    }

    /// Accepts the connection, which the kernel has already made, and sends the response before the request arrives.
    private mutating func respond() {
        connection = accept(listener, nil, nil)
        _ = write(connection, response, response.utf8.count)
    }
}
