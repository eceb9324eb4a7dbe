internal import BackhaulModel
internal import CCurl

/// Sets the method and body of a request.
///
/// Unsafe: `receiver` is the pointer that `prepare` gave to libcurl. The object of this pointer lives while libcurl
/// uses the handle. The buffer from libcurl lives until the call-back returns, and is not used after that.
extension EasyHandle {
    /// Sets the method and the body, and clears the method and the body of an earlier request. If `canBeRepeated` is
    /// true and a reused connection turns out to be closed, libcurl may send the request again.
    func prepare(
        _ outgoing: OutgoingRequest, canBeRepeated: Bool, receiver: UnsafeMutableRawPointer
    ) throws(Failure) {
        // CURLOPT_HTTPGET resets the options that are set below.
        bhl_easy_set_long(handle, CURLOPT_HTTPGET, 1)
        var method: String? = outgoing.method
        if let size = outgoing.bodySize {
            bhl_easy_set_long(handle, CURLOPT_UPLOAD, 1)
            bhl_easy_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(clamping: size))
            bhl_easy_set_receiver(handle, CURLOPT_READFUNCTION, sendBody)
            bhl_easy_set_seek(handle, canBeRepeated ? rewindBody : refuseToRewind, receiver)
            bhl_easy_set_pointer(handle, CURLOPT_READDATA, receiver)
            if method == "PUT" { method = nil }
        } else if method == "HEAD" {
            bhl_easy_set_long(handle, CURLOPT_NOBODY, 1)
            method = nil
        } else if method == "GET" {
            method = nil
        }
        // If a reused connection is closed, libcurl repeats the request. `refuseToRewind` prevents this repetition:
        // libcurl rewinds the body first, and the rewind fails. But libcurl does not rewind an empty body. So a request
        // without a body gets a new connection.
        if !canBeRepeated && outgoing.bodySize ?? 0 == 0 { bhl_easy_set_long(handle, CURLOPT_FRESH_CONNECT, 1) }
        guard bhl_easy_set_string(handle, CURLOPT_CUSTOMREQUEST, method) == CURLE_OK else {
            throw Failure(.outOfResources, "no memory is left for a transfer")
        }
    }
}

private let sendBody: curl_read_callback = { room, size, count, receiver in
    guard let room, let receiver else { return Int(CURL_READFUNC_ABORT) }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    return transfer.readBody(UnsafeMutableRawBufferPointer(start: room, count: size &* count))
}

private let rewindBody: curl_seek_callback = { receiver, offset, origin in
    guard let receiver, offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue().rewind()
    return CURL_SEEKFUNC_OK
}

/// libcurl calls this closure before it repeats a request. If a reused connection is closed, libcurl repeats the
/// request on a new connection, even if the method is not idempotent. But the server may have acted on the first
/// request. So the closure rewinds the body only if the server has not processed the request. Otherwise the rewind
/// fails, and the failed rewind prevents the repetition.
private let refuseToRewind: curl_seek_callback = { receiver, offset, origin in
    guard let receiver, offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    return transfer.rewindWhatWasRefused() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}
