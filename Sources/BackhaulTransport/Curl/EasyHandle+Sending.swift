internal import BackhaulModel
internal import CCurl

/// Method and body of a request.
///
/// Unsafe: `receiver` is the pointer that `prepare` has given to libcurl, and lives as long; the room that libcurl
/// gives lives until the call-back returns, and is used no longer.
extension EasyHandle {
    /// Also takes away what an earlier request had. `canBeRepeated`: libcurl may send the request once more when a
    /// connection that it used again turns out to be closed.
    func prepare(
        _ sending: Sending, canBeRepeated: Bool, receiver: UnsafeMutableRawPointer
    ) throws(Failure) {
        // Undoes what is set below.
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
        // There is nothing to rewind, and so nobody is asked.
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

/// libcurl repeats a request on a new connection when one that it used again turns out to be closed, whatever the
/// method. The server may have done what was asked all the same.
private let refuseToRewind: curl_seek_callback = { receiver, offset, origin in
    guard let receiver, offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    return transfer.rewindWhatWasRefused() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}
