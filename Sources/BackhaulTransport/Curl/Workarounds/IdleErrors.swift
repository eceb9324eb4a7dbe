internal import CCurl

/// Needed by: all versions of libcurl. Fixed in: none.
///
/// Before a request has a connection, libcurl checks all idle connections, and records their errors as errors of the
/// request (`prune_dead_connections`, `extract_if_dead`). libcurl repeats these checks before it repeats a request, and
/// keeps only the first error. So libcurl gets the buffer for the text of an error only when the request has chosen its
/// connection, and an earlier text is removed then.
///
/// Unsafe: the pointer is to the handle that libcurl uses for the request. A transfer retains this handle.
extension EasyHandle {
    /// Makes libcurl record the reason of a failure from now on.
    func recordReason() {
        reasonText[0] = 0
        bhl_easy_set_pointer(handle, CURLOPT_ERRORBUFFER, reasonText)
    }
}

/// libcurl calls this closure before it resolves a name.
let startResolver: curl_resolver_start_callback = { _, _, easy in
    guard let easy else { return 1 }
    Unmanaged<EasyHandle>.fromOpaque(easy).takeUnretainedValue().recordReason()
    return 0
}

let openSocket: curl_opensocket_callback = { easy, _, address in
    guard let easy, let address else { return -1 }
    let handle = Unmanaged<EasyHandle>.fromOpaque(easy).takeUnretainedValue()
    handle.recordReason()
    let text = ConnectionEndpoints.text(address) ?? ""
    // libcurl then tries the next address of the server.
    if handle.refuses(text) { return -1 }
    handle.triedAddress = text
    return handle.sockets.open(
        address.pointee.family, address.pointee.socktype, address.pointee.protocol)
}
