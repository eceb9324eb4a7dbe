public import BackhaulModel
public import BackhaulPlatform

/// Live readings: what nobody reads is replaced by what is newer.
extension SessionClient {
    /// Readable while there are readings that `pollProgress` has not given.
    public var progressDescriptor: Int32 { eventDescriptor }

    /// The newest readings of the tasks that have changed; waits for the first.
    public func pollProgress(until deadline: Deadline) throws(Failure) -> [Progress] { [] }
}
