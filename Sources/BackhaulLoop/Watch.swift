/// A descriptor that the loop watches, until `cancel` or the last reference to this. Confined to the loop's thread.
///
/// Cancel before closing the descriptor. A number that is watched anew after it was closed and reused gets a watch of
/// its own, and events that were under way for the old one are dropped.
public final class Watch {
    public let descriptor: Int32
    let generation: UInt32
    let handler: (Interest) -> Void
    // The loop outlives its watches only by accident: a host's closure may hold one longer.
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

    /// An empty interest watches for nothing, errors included. False when the descriptor was closed without `cancel`:
    /// this watch is then over.
    @discardableResult
    public func change(_ interest: Interest) -> Bool {
        guard let loop else { return false }
        if interest == self.interest { return true }
        let before = self.interest
        self.interest = interest
        return loop.rewatch(self, before: before)
    }

    public func cancel() {
        loop?.forget(self)
        loop = nil
    }
}
