internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What the engine knows about a connected client: its identity, its attached sessions, and the function that sends
/// messages to it.
final class ClientConnection {
    let id: ConnectionID
    let deliver: (EngineMessage) -> Void
    private(set) var hello: Hello?
    private(set) var process: ProcessIdentity?
    /// Whether the client is in the engine's process. If so, the client and the engine see the same directories.
    let isLocal: Bool
    /// Whether the client has too many unread bytes. If so, messages that can wait are not sent.
    let isBackpressured: () -> Bool
    private(set) var handles: [HandleID: AttachedHandle] = [:]
    /// The handles whose sessions were removed, and that the client has not closed yet.
    private(set) var ended: [HandleID: AttachedHandle] = [:]
    /// Whether a message of the client is being checked. For an enqueue (a command that stores requests as tasks), a
    /// disk thread checks the directories of the downloads. For the client's first message, the engine reads the
    /// client's process from /proc, and retries if this fails. During a check, later messages are queued, so that a
    /// client's commands keep their order.
    var isInspecting = false
    var inspectedDirectories = InspectedDirectories()
    private var queuedMessages: ArraySlice<ClientMessage> = []
    /// Whether a disk thread is copying or linking the body files of an enqueue into the store. This work may take
    /// long. Later enqueues wait until it ends. Other commands do not wait.
    var isIngestingBodies = false
    private var queuedEnqueues: ArraySlice<ClientMessage> = []
    /// The limit on queued messages that are no commands. The commands of other processes have a limit of their own
    /// (`CommandBudget`).
    private static let queueLimit = 16_384

    struct AttachedHandle: Sendable {
        var session: SessionID
        var identifier: String
        var role: Role
        var pushCredit: PushCredit
        var isReadingAhead = false
        /// The greatest event id in the acknowledgements of this handle, even if the store refused them. Nil before the
        /// first acknowledgement.
        var greatestAcknowledged: EventID?
    }

    /// Whether the connection has ended. The store's thread reads this, too.
    let hasEnded = Lock(false)

    /// A create or attach command that may wait for its session has a handle (the client's reference to the session).
    /// The handle is in this set while the store thread performs the command. If the client cancels the command, the
    /// handle is removed.
    private var opening: Set<HandleID> = []

    init(
        id: ConnectionID, isLocal: Bool, isBackpressured: @escaping () -> Bool,
        deliver: @escaping (EngineMessage) -> Void
    ) {
        self.id = id
        self.isLocal = isLocal
        self.isBackpressured = isBackpressured
        self.deliver = deliver
    }

    var application: String? { hello?.application }

    func noteEnd() { hasEnded.change { $0 = true } }

    func introduce(_ hello: Hello, process: ProcessIdentity) {
        self.hello = hello
        self.process = process
    }

    /// Queues the message. Drops it if it is no command and too many messages are queued.
    func queue(_ message: ClientMessage) {
        if case .command = message {} else if queuedMessages.count >= Self.queueLimit { return }
        queuedMessages.append(message)
    }

    func nextQueuedMessage() -> ClientMessage? { queuedMessages.popFirst() }

    func queueEnqueue(_ message: ClientMessage) { queuedEnqueues.append(message) }

    func nextQueuedEnqueue() -> ClientMessage? { queuedEnqueues.popFirst() }

    func attach(_ handle: HandleID, _ attached: AttachedHandle) { handles[handle] = attached }

    func consumes(_ identifier: String) -> Bool {
        handles.values.contains { $0.role == .consume && $0.identifier.utf8.elementsEqual(identifier.utf8) }
    }

    func startOpening(_ handle: HandleID) { opening.insert(handle) }

    /// Returns false if the handle is no longer in `opening`.
    @discardableResult
    func stopOpening(_ handle: HandleID) -> Bool { opening.remove(handle) != nil }

    func update(_ handle: HandleID, _ pushCredit: PushCredit) { handles[handle]?.pushCredit = pushCredit }

    func setReadingAhead(_ handle: HandleID, _ isReading: Bool) { handles[handle]?.isReadingAhead = isReading }

    /// Records an acknowledgement. Returns the number of acknowledged ids (0 if it is unknown), and whether the
    /// acknowledgement includes the session's newest event.
    func recordAcknowledgement(
        _ acknowledgement: Acknowledgement, by handle: HandleID
    ) -> (count: UInt64, includesNewest: Bool) {
        guard let attached = handles[handle] else { return (0, false) }
        let greatest = acknowledgement.greatest
        handles[handle]?.greatestAcknowledged = max(attached.greatestAcknowledged ?? .zero, greatest)
        return (
            acknowledgement.count(after: attached.greatestAcknowledged) ?? 0, greatest >= attached.pushCredit.newest
        )
    }

    func detach(_ handle: HandleID) -> AttachedHandle? {
        ended[handle] = nil
        return handles.removeValue(forKey: handle)
    }

    /// Ends the handles of a session that was removed, and notifies the client. Returns these handles.
    func end(_ session: SessionID) -> [HandleID] {
        let found = handles.filter { $0.value.session == session }
        for (handle, attached) in found {
            handles[handle] = nil
            ended[handle] = attached
            deliver(.notice(.removed(handle)))
        }
        return Array(found.keys)
    }

    /// Returns the values by which the store and the engine recognise this handle as the consumer of a session. A
    /// consumer reads the session's events. Returns nil before the client's first message.
    func consumer(_ handle: HandleID) -> ConsumerIdentity? {
        guard let hello, let process else { return nil }
        return ConsumerIdentity(client: hello.client, handle: handle, process: process, launch: hello.launch)
    }

    /// Whether the client reads the events of a session (is its consumer) in another process, which may be stopped
    /// (SIGSTOP). A program that runs the engine in its own process is stopped together with the engine.
    var mayBeStoppedConsumer: Bool { !isLocal && hello != nil && handles.values.contains { $0.role == .consume } }

    func reply(_ sequence: UInt64, _ reply: Reply) { deliver(.reply(sequence: sequence, reply)) }

    func reply(_ sequence: UInt64, _ result: Result<Reply, Failure>) {
        switch result {
        case .success(let success): reply(sequence, success)
        case .failure(let failure): reply(sequence, .failed(failure))
        }
    }
}
