internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: the host keeps its out parameters writable until the call returns.

@c @implementation
public func bh_session_watch_progress(
    _ session: OpaquePointer?, _ interval_ms: UInt32, _ timeout_ms: Int32, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, error) { client throws(Failure) in
        guard interval_ms == 0 || Limits.progressInterval.contains(interval_ms) else {
            throw Failure(
                .invalidArgument,
                "interval_ms is \(interval_ms); give \(Limits.progressInterval.lowerBound) to "
                    + "\(Limits.progressInterval.upperBound), or 0 to end the stream")
        }
        return client.watchProgress(intervalMilliseconds: interval_ms)
    }
}

@c @implementation
public func bh_session_poll_progress(
    _ session: OpaquePointer?, _ timeout_ms: Int32, _ progress: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let session = try SessionHandle(session)
        let progress = try NumberArgument.required(progress, "progress")
        let readings = try session.client.pollProgress(until: Timeout.deadline(timeout_ms))
        progress.pointee = try Batch(readings) { reading, _ in bh_progress(reading) }.handle()
    }
}

@c @implementation
public func bh_session_progress_fd(
    _ session: OpaquePointer?, _ descriptor: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let session = try SessionHandle(session)
        try NumberArgument.required(descriptor, "descriptor").pointee = try session.client.progressDescriptor()
    }
}
