public import BackhaulModel
public import BackhaulPlatform

/// Live progress of tasks. A *reading* is the progress of one task at one time. If the host has not fetched an earlier
/// reading of a task, the new reading replaces it.
extension SessionClient {
    /// Starts a stream with at most one reading of each task in each interval. An interval of 0 ends the stream. The
    /// readings come from the engine, which runs the tasks. If the engine ends, the stream continues with the next
    /// engine.
    public func watchProgress(intervalMilliseconds: UInt32) -> Ticket {
        application.state.withLock { $0.sessions[handle]?.progressMilliseconds = intervalMilliseconds }
        return submit { .watchProgress($0, intervalMilliseconds: intervalMilliseconds) }
    }

    /// Returns a descriptor that is readable while there are readings for `pollProgress`. The first call makes the
    /// descriptor.
    public func progressDescriptor() throws(Failure) -> Int32 {
        let fresh: EventFD
        do throws(SystemError) {
            fresh = try EventFD()
        } catch {
            throw Failure.system(.outOfResources, code: error.code, error.description)
        }
        let number: Int32? = application.state.withLock { state in
            guard let session = state.sessions[handle] else { return nil }
            if let descriptor = session.progressDescriptor { return descriptor.number }
            state.sessions[handle]?.progressDescriptor = fresh
            fresh.set(!session.progress.isEmpty)
            return fresh.number
        }
        guard let number else { throw Self.closedFailure }
        return number
    }

    /// Waits for changed progress, and returns the newest reading of each changed task, sorted by task.
    public func pollProgress(until deadline: Deadline) throws(Failure) -> [Progress] {
        let found: Result<[Progress], Failure>? = application.state.wait(until: deadline) { state in
            if let failure = state.failure { return .failure(failure) }
            guard let session = state.sessions[handle] else { return .failure(Self.closedFailure) }
            if let failure = state.sessions[handle]?.takeFailure() { return .failure(failure) }
            guard !session.progress.isEmpty else { return nil }
            let readings = state.sessions[handle]?.progress.take() ?? []
            session.progressDescriptor?.clear()
            return .success(readings)
        }
        // If no engine was found, the next call must not return the same failure without another search.
        if case .failure = found { application.state.change { $0.searchAgain() } }
        return try found?.get() ?? []
    }
}
