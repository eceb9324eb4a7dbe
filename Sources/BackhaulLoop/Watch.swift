/// A descriptor that the loop watches. The watch ends when `cancel` is called, or when the last reference to this
/// object is released. Only the loop's thread may use this object.
///
/// Call `cancel` before closing the descriptor. The system may give the number of a closed descriptor to a new
/// descriptor. If the new descriptor is watched, it gets a new watch, and pending events of the old watch are dropped.
public final class Watch {
    public let descriptor: Int32
    let generation: UInt32
    let handler: (Interest) -> Void
    // The reference is weak, because a watch may outlive the loop: a closure outside of the library may retain the
    // watch.
    private weak var loop: Loop?
    public private(set) var interest: Interest

    init(
        _ loop: Loop, _ descriptor: Int32, _ generation: UInt32, _ interest: Interest,
        _ handler: @escaping (Interest) -> Void
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.generation = generation
        self.interest = interest
        self.handler = handler
    }

    deinit { cancel() }

    /// Changes the watched events. With an empty interest, the watch reports no events and no errors. Returns false if
    /// the watch has ended, for example because the descriptor was closed without a call of `cancel`.
    @discardableResult
    public func change(_ interest: Interest) -> Bool {
        guard let loop else { return false }
        if interest == self.interest { return true }
        let before = self.interest
        self.interest = interest
        return loop.updateWatch(self, before: before)
    }

    public func cancel() {
        loop?.forget(self)
        loop = nil
    }
}
