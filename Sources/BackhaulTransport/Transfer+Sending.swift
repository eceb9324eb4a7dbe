internal import BackhaulModel
internal import CCurl

/// libcurl's call-backs for the request's body.
extension Transfer {
    func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard !isOver, !room.isEmpty else { return Int(CURL_READFUNC_ABORT) }
        heard()
        var bytes = room.mutableBytes
        // Not from within `sending`: the body's owner may look at it meanwhile.
        guard let body = sending.bodyToRead else { return 0 }
        guard let count = sending.gave(body.read(into: &bytes)) else { return Int(CURL_READFUNC_PAUSE) }
        if sending.sent == sending.bodySize { timing.bodyEnded() }
        return count
    }

    func rewind() {
        sending.begin()
        sending.body?.rewind()
    }
}
