/// A descriptor that the loop watches, until `cancel` or until the last reference to this object is released. It is
/// confined to the loop's thread.
///
/// Call `cancel` before closing the descriptor. If a number is closed, reused and watched again, the new watch is
/// another object, and pending events of the old one are dropped.
public final class Watch {
    public let descriptor: Int32
    let generation: UInt32
    let handler: (Interest) -> Void
    // The reference is weak, because a watch may outlive the loop: a closure of the host may retain it.
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

    /// Changes the watched events. With an empty interest no events are reported, not even errors. Returns false when
    /// the descriptor was closed without `cancel`. This watch has then ended.
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
