internal import BackhaulPlatform
internal import CUV

/// A descriptor that the loop watches. The watch ends when `cancel` is called, or when the last reference to this
/// object is released. Only the loop's thread may use this object.
///
/// The watch must end before the descriptor is closed. Otherwise libuv may end the process.
///
/// Unsafe: `handle` is valid until `cancel`, and until the loop is closed.
public final class Watch {
    public let descriptor: Int32
    public private(set) var interest: Interest
    private let handler: (Interest) -> Void
    private let handle: UnsafeMutablePointer<uv_poll_t>
    /// Nil after the watch has ended.
    private var loop: Loop?

    init(
        _ loop: Loop, _ uv: LibuvLoop, _ descriptor: Int32, _ interest: Interest,
        _ handler: @escaping (Interest) -> Void
    ) throws(SystemError) {
        let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        let result = uv_poll_init(uv.pointer, handle, descriptor)
        guard result == 0 else {
            handle.deallocate()
            throw SystemError.watch(code: -result)
        }
        self.loop = loop
        self.descriptor = descriptor
        self.interest = interest
        self.handler = handler
        self.handle = handle
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        _ = start()
    }

    deinit { cancel() }

    /// Changes the watched events. With an empty interest, the watch reports no events and no errors. Returns false if
    /// the watch has ended.
    @discardableResult
    public func change(_ interest: Interest) -> Bool {
        guard let loop, loop.isOpen else { return false }
        if interest == self.interest { return true }
        self.interest = interest
        return start()
    }

    public func cancel() {
        guard let loop else { return }
        self.loop = nil
        if loop.forget(self) { LibuvLoop.close(handle) }
    }

    /// Starts or changes the handle. With an empty interest, libuv stops it.
    private func start() -> Bool {
        uv_poll_start(handle, Int32(interest.rawValue)) { handle, status, events in
            guard let data = handle?.pointee.data else { return }
            // The watch is retained during the call, because the handler may drop the last reference to the watch.
            Unmanaged<Watch>.fromOpaque(data).takeUnretainedValue().report(status, Interest(rawValue: UInt32(events)))
        } == 0
    }

    private func report(_ status: Int32, _ events: Interest) {
        // An event of this iteration may be reported after the end of the watch.
        guard let loop else { return }
        loop.begin()
        // An error of the descriptor counts as all events in `interest`: the next read or write returns the error.
        let found = status == 0 ? events.intersection(interest) : interest
        if !found.isEmpty { handler(found) }
        // After an error, libuv has stopped the handle.
        if status != 0, self.loop != nil, loop.isOpen, !interest.isEmpty { _ = start() }
    }
}
