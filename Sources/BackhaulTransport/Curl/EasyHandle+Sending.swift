internal import BackhaulModel
internal import CCurl

/// The method and body of a request.
///
/// Unsafe: `receiver` is the pointer that `prepare` gave to libcurl, and lives as long. The buffer from libcurl lives
/// until the call-back returns, and is not used after it.
extension EasyHandle {
    /// Sets method and body, and clears those of an earlier request. `canBeRepeated`: libcurl may send the request
    /// again when a reused connection turns out to be closed.
    func prepare(
        _ sending: Sending, canBeRepeated: Bool, receiver: UnsafeMutableRawPointer
    ) throws(Failure) {
        // Resets the options that are set below.
        bhl_easy_set_long(handle, CURLOPT_HTTPGET, 1)
        var method: String? = sending.method
        if let size = sending.bodySize {
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
        // libcurl does not rewind an empty body, so `refuseToRewind` could not stop a repetition. A new connection
        // avoids it.
        if !canBeRepeated && sending.bodySize == 0 { bhl_easy_set_long(handle, CURLOPT_FRESH_CONNECT, 1) }
        guard bhl_easy_set_string(handle, CURLOPT_CUSTOMREQUEST, method) == CURLE_OK else {
            throw Failure(.outOfResources, "no memory is left for a transfer")
        }
    }
}

private let sendBody: curl_read_callback = { room, size, count, receiver in
    guard let room, let receiver else { return Int(CURL_READFUNC_ABORT) }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    return transfer.give(UnsafeMutableRawBufferPointer(start: room, count: size &* count))
}

private let rewindBody: curl_seek_callback = { receiver, offset, origin in
    guard let receiver, offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue().rewind()
    return CURL_SEEKFUNC_OK
}

/// On a reused connection that turns out to be closed, libcurl repeats a request on a new one, whatever its method. The
/// server may have acted on the first request.
private let refuseToRewind: curl_seek_callback = { receiver, offset, origin in
    guard let receiver, offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    return transfer.rewindWhatWasRefused() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}
