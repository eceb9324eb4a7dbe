internal import CCurl

/// A request that makes libcurl close idle connections that their servers have ended. The options forbid this request
/// to reuse or to open a connection, so the request always fails.
///
/// Unsafe: the handle lives until `deinit`. Before `deinit`, the handle is removed from its multi handle.
final class ConnectionSweeper {
    let handle: UnsafeMutableRawPointer

    init?() {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        // The URL has an address, so that no name is resolved. No connection is made.
        bhl_easy_set_string(handle, CURLOPT_URL, "http://127.0.0.1/")
        bhl_easy_set_string(handle, CURLOPT_PROXY, "")
        bhl_easy_set_long(handle, CURLOPT_NOSIGNAL, 1)
        bhl_easy_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
        bhl_easy_set_open_socket(handle, openNoSocket, nil)
    }

    deinit { curl_easy_cleanup(handle) }
}

private let openNoSocket: curl_opensocket_callback = { _, _, _ in -1 }
