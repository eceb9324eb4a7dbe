internal import BackhaulModel
internal import BackhaulPlatform

/// The client's state of a session handle.
struct AttachedSession: Sendable {
    let identifier: String
    let role: Role
    let descriptor: WakeUp
    var isAttached = false
    /// The reason why the handle does not work any more: it could not be attached to the next engine, or has ended.
    var failure: Failure?
    private(set) var newest = EventID.zero
    private(set) var handedOutThrough = EventID.zero
    /// The events that were pushed and not handed out.
    var pushed = EventCache()
    /// The progress that the host has not read, and the interval of the host's watch.
    var progress = ProgressTable()
    var progressMilliseconds: UInt32 = 0
    var progressDescriptor: WakeUp?
    /// Whether the descriptor is readable.
    private var isShown = false

    init(identifier: String, role: Role, descriptor: WakeUp) {
        self.identifier = identifier
        self.role = role
        self.descriptor = descriptor
    }

    var hasUnseen: Bool { newest > handedOutThrough }

    mutating func show() {
        guard hasUnseen || isShown else { return }
        isShown = hasUnseen
        descriptor.set(isShown)
    }

    /// Ends the handle, because the engine does not know it any more.
    mutating func end(_ failure: Failure) {
        self.failure = failure
        isAttached = false
        handedOutThrough = newest
        show()
    }

    mutating func learn(newest id: EventID) { newest = max(newest, id) }

    /// Counts the events up to this one as handed out. Pushes start again after the last event that was handed out.
    mutating func begin(at id: EventID) {
        handOut(through: id)
        pushed.restart(at: handedOutThrough)
    }

    mutating func handOut(through id: EventID) { handedOutThrough = max(handedOutThrough, id) }

    mutating func takeBack(after id: EventID) { handedOutThrough = min(handedOutThrough, id) }
}
