internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// A client as the engine sees it: who it is, which sessions it has attached, and how to reach it.
final class ClientConnection {
    let id: ConnectionID
    let deliver: (EngineMessage) -> Void
    private(set) var hello: Hello?
    private(set) var process: ProcessIdentity?
    /// In this process, so that it sees every directory as the engine does.
    let isLocal: Bool
    /// It reads slower than it is sent to: what can wait is not sent.
    let isBehind: () -> Bool
    private(set) var handles: [HandleID: AttachedHandle] = [:]
    /// The disk is asked about the destinations of an enqueue, or /proc about the client's process. What came after it
    /// waits, so that a client's commands keep their order.
    var isInspecting = false
    var introductionTimer: LoopTimer?
    /// How often its process could not be looked at.
    var introductions = 0
    private var held: [ClientMessage] = []
    /// The disk takes the files of an enqueue over, which may last: the next enqueue waits, but nothing else does.
    var isTakingBodies = false
    private var heldEnqueues: [ClientMessage] = []

    struct AttachedHandle: Sendable {
        var session: SessionID
        var identifier: String
        var role: Role
        var window: PushWindow
        var isReadingAhead = false
    }

    /// Creates and attaches that wait when the session is not free, and were not given up since.
    private var opening: Set<HandleID> = []

    init(
        id: ConnectionID, isLocal: Bool, isBehind: @escaping () -> Bool, deliver: @escaping (EngineMessage) -> Void
    ) {
        self.id = id
        self.isLocal = isLocal
        self.isBehind = isBehind
        self.deliver = deliver
    }

    var application: String? { hello?.application }

    func introduce(_ hello: Hello, process: ProcessIdentity) {
        self.hello = hello
        self.process = process
    }

    func hold(_ message: ClientMessage) { held.append(message) }

    func takeHeld() -> ClientMessage? { held.isEmpty ? nil : held.removeFirst() }

    func holdEnqueue(_ message: ClientMessage) { heldEnqueues.append(message) }

    func takeHeldEnqueue() -> ClientMessage? { heldEnqueues.isEmpty ? nil : heldEnqueues.removeFirst() }

    func attach(_ handle: HandleID, _ attached: AttachedHandle) { handles[handle] = attached }

    func consumes(_ identifier: String) -> Bool {
        handles.values.contains { $0.role == .consume && $0.identifier.utf8.elementsEqual(identifier.utf8) }
    }

    func startOpening(_ handle: HandleID) { opening.insert(handle) }

    /// False when it was stopped before.
    @discardableResult
    func stopOpening(_ handle: HandleID) -> Bool { opening.remove(handle) != nil }

    func update(_ handle: HandleID, _ window: PushWindow) { handles[handle]?.window = window }

    func setReadingAhead(_ handle: HandleID, _ isReading: Bool) { handles[handle]?.isReadingAhead = isReading }

    func detach(_ handle: HandleID) -> AttachedHandle? { handles.removeValue(forKey: handle) }

    /// The consumer that the handle is, once the client has said who it is.
    func consumer(_ handle: HandleID) -> ConsumerIdentity? {
        guard let hello, let process else { return nil }
        return ConsumerIdentity(client: hello.client, handle: handle, process: process, launch: hello.launch)
    }

    /// It consumes a session in another process, which may be stopped. With a stopped host its own engine is stopped.
    var mayBeStoppedConsumer: Bool { !isLocal && hello != nil && handles.values.contains { $0.role == .consume } }

    func reply(_ sequence: UInt64, _ reply: Reply) { deliver(.reply(sequence: sequence, reply)) }
}
