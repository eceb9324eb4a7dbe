internal import BackhaulModel
internal import BackhaulPlatform

/// A session handle as its client knows it.
struct AttachedSession: Sendable {
    let identifier: String
    let role: Role
    let descriptor: WakeUp
    var isAttached = false
    /// It could not be attached again after an engine had changed.
    var failure: Failure?
    private(set) var newest = EventID.zero
    private(set) var handedOutThrough = EventID.zero
    /// Events that were pushed and not handed out.
    var pushed = EventCache()
    /// Readings that the host has not read, and how often it wants new ones.
    var progress = ProgressTable()
    var progressMilliseconds: UInt32 = 0
    var progressDescriptor: WakeUp?
    /// What the descriptor shows.
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

    /// The engine knows the handle no more.
    mutating func end(_ failure: Failure) {
        self.failure = failure
        isAttached = false
        handedOutThrough = newest
        show()
    }

    mutating func learn(newest id: EventID) { newest = max(newest, id) }

    /// Nothing up to here is to be handed out unasked.
    mutating func begin(at id: EventID) {
        handOut(through: id)
        pushed.restart(at: handedOutThrough)
    }

    mutating func handOut(through id: EventID) { handedOutThrough = max(handedOutThrough, id) }

    mutating func takeBack(after id: EventID) { handedOutThrough = min(handedOutThrough, id) }
}
