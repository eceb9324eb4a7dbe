internal import BackhaulModel
internal import BackhaulPlatform

/// The state of a client, which is one open application in this process. The client sends commands to the *engine*,
/// which runs the tasks of the store. The lock of `ApplicationClient.state` protects the state.
struct ClientState: Sendable {
    enum Link: Sendable {
        /// No engine replies yet, so commands wait.
        case connecting
        case connected
        /// The store or its engine cannot be used. The next command makes the client search for an engine again. If an
        /// engine has served the client before, the client also searches again at the deadline.
        case failed(Failure, retry: Deadline?)
        case closed
    }

    typealias ReplyHandler = @Sendable (Reply) -> Void

    struct PendingCommand: Sendable {
        var command: Command
        var waiting: ReplyHandler
        /// Whether an engine may have got the command.
        var isSent = false
    }

    private(set) var link = Link.connecting
    let client = ClientID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    let application: String
    private let isObserver: Bool
    private let launch: LaunchToken?
    /// The process of the present engine, or of the last one.
    private(set) var engineProcess: Int32?
    /// Whether an engine has replied. If so, the client's sessions are in the store of this engine.
    var hasConnected: Bool { engineProcess != nil }
    private(set) var isLocal = false
    private var transport: (any ClientTransport)?
    /// A connection over which the client has sent its first message (the hello). Nil after the first message of the
    /// engine (the welcome) has come. `openingProcess`: the process of the engine that got the hello.
    private var openingTransport: (any ClientTransport)?
    private var openingProcess: Int32?
    private var lastSequence: UInt64 = 0
    private var pending: [UInt64: PendingCommand] = [:]
    /// No command up to this number has a reply that the client still needs. The number only grows, so each command is
    /// examined one time.
    private var repliedThrough: UInt64 = 0
    /// The commands that attach sessions to a new engine. The commands of the host are sent only after these commands
    /// have replies.
    private var reattaching: [UInt64: HandleID] = [:]
    private var lastHandle: UInt64 = 0
    var sessions: [HandleID: AttachedSession] = [:]
    var attention = Attention()
    var listing: AttentionListing?
    /// Nil without an outage. Cleared when the engine that ended the outage disconnects.
    var outage: Outage?
    private var announced = AnnouncedTickets()
    private let descriptor: EventFD
    /// Whether the descriptor is readable.
    private var isSignalled = false

    init(_ options: ApplicationOptions, descriptor: EventFD) {
        application = options.application
        isObserver = options.isObserver
        launch = options.launch
        self.descriptor = descriptor
    }

    func hello(process: Int32) -> Hello {
        Hello(
            client: client, application: application, process: process, isObserver: isObserver, launch: launch,
            closedClients: ClosedClients.all)
    }

    static let closedFailure = Failure(.invalidHandle, "the application was closed")

    var isClosed: Bool { if case .closed = link { true } else { false } }
    private var isConnected: Bool { if case .connected = link { true } else { false } }

    /// When the client searches for an engine without a command of the host; nil if it does not.
    var retryDeadline: Deadline? { if case .failed(_, retry: let deadline) = link { deadline } else { nil } }

    var failure: Failure? {
        switch link {
        case .failed(let failure, retry: _): failure
        case .closed: Self.closedFailure
        case .connecting, .connected: nil
        }
    }

    /// The failure of a wait that timed out. `hasTicket`: whether the outcome can still be read from a ticket.
    func timeoutFailure(hasTicket: Bool = true) -> Failure {
        let advice = hasTicket ? "ask for the outcome with the ticket" : "try again"
        guard let process = openingProcess ?? (isLocal ? nil : engineProcess) else {
            return Failure(.timeout, "the engine has not replied yet; \(advice)")
        }
        if ProcessIdentity.isStopped(processID: process) {
            return Failure(
                .engineUnresponsive,
                "the engine is process \(process), which is stopped; let it continue or end it",
                domain: .process, detail: Int64(process))
        }
        return Failure(
            .timeout, "the engine, process \(process), has not replied yet; \(advice)",
            domain: .process, detail: Int64(process))
    }

    // MARK: Commands

    /// Sends a command. Returns a failure if the client is closed, because the command would never get a reply.
    mutating func send(_ command: Command, _ waiting: @escaping ReplyHandler) -> Failure? {
        if isClosed { return Self.closedFailure }
        lastSequence += 1
        pending[lastSequence] = PendingCommand(command: command, waiting: waiting, isSent: isConnected)
        if isConnected {
            let message = message(lastSequence, command)
            transport?.send(message)
        }
        searchAgain()
        return nil
    }

    /// Makes the client search for an engine again if none was found.
    mutating func searchAgain() {
        guard case .failed = link else { return }
        link = .connecting
        updateDescriptors()
    }

    private mutating func message(_ sequence: UInt64, _ command: Command) -> ClientMessage {
        // The client has all replies up to the number `repliedThrough`, so the engine may forget these replies. A
        // command that waits until another handle releases a session does not lower this number. Such a command may
        // wait for a long time, and the engine stores no reply for it.
        while repliedThrough + 1 < sequence, pending[repliedThrough + 1]?.command.waits ?? true { repliedThrough += 1 }
        return .command(sequence: sequence, repliedThrough: min(repliedThrough, sequence - 1), command)
    }

    /// Takes a reply. Returns the call-back of the command, and the reply for it. The caller calls this call-back after
    /// it has released the lock.
    mutating func replied(_ sequence: UInt64, _ reply: Reply) -> (waiting: ReplyHandler, reply: Reply)? {
        if let handle = reattaching.removeValue(forKey: sequence) {
            reattached(handle, reply)
            if reattaching.isEmpty { resend() }
            return nil
        }
        guard let sent = pending.removeValue(forKey: sequence) else { return nil }
        return (sent.waiting, explained(reply, to: sent.command))
    }

    /// An engine does not know a handle that has ended. The host gets the reason of the end.
    private func explained(_ reply: Reply, to command: Command) -> Reply {
        guard case .failed(let failure) = reply, failure.status == .invalidHandle, let handle = command.handle,
            let reason = sessions[handle]?.failure
        else { return reply }
        return .failed(reason)
    }

    // MARK: The engine

    /// Notes that an engine has sent its welcome. Attaches the sessions again. Then sends all commands that have no
    /// reply yet, with the same ids as before. Returns false if the client was closed meanwhile.
    mutating func connected(_ transport: any ClientTransport, engineProcess: Int32, isLocal: Bool) -> Bool {
        guard !isClosed else { return false }
        openingTransport = nil
        openingProcess = nil
        self.transport = transport
        self.engineProcess = engineProcess
        self.isLocal = isLocal
        reattaching = [:]
        for (handle, session) in sessions where session.isAttached {
            lastSequence += 1
            reattaching[lastSequence] = handle
            transport.send(
                .command(
                    sequence: lastSequence, repliedThrough: 0,
                    .attachSession(identifier: session.identifier, session.role, handle, waits: false)))
        }
        if reattaching.isEmpty { resend() }
        return true
    }

    private mutating func reattached(_ handle: HandleID, _ reply: Reply) {
        switch reply {
        case .session(_, _, let newest, let unacknowledged):
            attached(handle, newest: newest, unacknowledged: unacknowledged)
            resumeWatching(handle)
        // A session is not found only if it was removed.
        case .failed(let failure): detach(handle, failure.status == .notFound ? .sessionRemoved : failure)
        default: detach(handle, Failure(.internal, "the engine replied to another command"))
        }
        updateDescriptors()
    }

    /// Ends a handle that the present engine could not attach again. The earlier engine has stored that this handle has
    /// its role in the session, so the handle is closed. Otherwise no other handle could get this role.
    private mutating func detach(_ handle: HandleID, _ failure: Failure) {
        guard sessions[handle] != nil else { return }
        sessions[handle]?.end(failure, isNews: true)
        closeLater(handle)
    }

    /// Adds a command that closes the handle. `resend` sends the command to an engine.
    private mutating func closeLater(_ handle: HandleID) {
        lastSequence += 1
        pending[lastSequence] = PendingCommand(command: .closeSession(handle), waiting: { _ in })
    }

    private mutating func resend() {
        link = .connected
        outage?.connected()
        for sequence in pending.keys.sorted() {
            guard let sent = pending[sequence] else { continue }
            pending[sequence]?.isSent = true
            let message = message(sequence, sent.command)
            transport?.send(message)
        }
        updateDescriptors()
    }

    /// Notes a connection whose welcome has not come yet. Returns false if the client was closed meanwhile.
    mutating func opening(_ transport: any ClientTransport, engineProcess: Int32) -> Bool {
        guard !isClosed else { return false }
        openingTransport = transport
        openingProcess = engineProcess
        return true
    }

    mutating func disconnected() {
        transport = nil
        openingTransport = nil
        openingProcess = nil
        // The next engine does not know which events the former engine has pushed, and pushes them again. So the
        // buffers of pushed events are emptied.
        for handle in sessions.keys { sessions[handle]?.begin(at: .zero) }
        guard !isClosed else { return }
        if outage?.isOver == true { outage = nil }
        link = .connecting
    }

    /// Notes that no engine can be used. Returns the call-backs of all waiting commands, which fail with this failure.
    mutating func failed(_ failure: Failure) -> [ReplyHandler] {
        guard !isClosed else { return [] }
        // This releases the connection, and so closes it. Otherwise, a stopped engine that continues would count this
        // client as connected.
        openingTransport = nil
        openingProcess = nil
        if hasConnected, outage == nil {
            outage = Outage()
            for handle in sessions.keys { sessions[handle]?.beginOutage() }
        }
        link = .failed(failure, retry: outage?.nextRetry())
        let dropped = pending
        pending = [:]
        for (sequence, sent) in dropped { closeHandle(of: sent, sequence) }
        updateDescriptors()
        return dropped.values.map(\.waiting)
    }

    /// If the dropped command closes or attaches a handle, the next engine must close this handle: an earlier engine
    /// may have stored the handle's role, and no other handle could then get the role.
    private mutating func closeHandle(of dropped: PendingCommand, _ sequence: UInt64) {
        switch dropped.command {
        case .closeSession: pending[sequence] = PendingCommand(command: dropped.command, waiting: { _ in })
        case .createSession(_, _, let handle, _), .attachSession(_, _, let handle, _):
            if dropped.isSent { closeLater(handle) }
        default: break
        }
    }

    /// Closes the client. Returns the call-backs of all waiting commands, and the transport to close. The caller uses
    /// them after it has released the lock, because an engine that stops takes this lock to deliver its last replies.
    mutating func close() -> (waiting: [ReplyHandler], transport: (any ClientTransport)?) {
        guard !isClosed else { return ([], nil) }
        link = .closed
        ClosedClients.add(client)
        defer {
            pending = [:]
            transport = nil
            openingTransport = nil
            // The outcome of a ticket may be a session, which retains this client.
            announced = AnnouncedTickets()
            updateDescriptors()
        }
        return (pending.values.map(\.waiting), transport ?? openingTransport)
    }

    // MARK: Sessions and events

    mutating func nextHandle() -> HandleID {
        lastHandle += 1
        return HandleID(rawValue: lastHandle)
    }

    /// Removes a closed handle. Returns whether the engine knows it.
    mutating func remove(_ handle: HandleID) -> Bool {
        guard let session = sessions.removeValue(forKey: handle) else { return false }
        // A poll of this handle may be under way, and no longer returns the session's events to the host.
        updateDescriptors()
        return session.isAttached || session.isRemoved
    }

    mutating func received(_ notice: Notice) {
        switch notice {
        case .event(let identifier, let newest): record(identifier, newest: newest)
        case .events(let handle, let after, let through, let events):
            pushed(handle, events, after: after, through: through)
        case .yield(let identifier):
            attention.recordYieldRequest(identifier)
            updateDescriptors()
        case .progress(let handle, let readings): record(handle, readings)
        case .removed(let handle):
            sessions[handle]?.remove()
            updateDescriptors()
        case .endWithdrawn(let handle): endWithdrawn(handle)
        }
    }

    mutating func record(_ identifier: String, newest: EventID) {
        attention.record(identifier, newest: newest)
        let name = ByteString(identifier)
        for (handle, session) in sessions where ByteString(session.identifier) == name {
            sessions[handle]?.record(newest: newest)
        }
        updateDescriptors()
    }

    /// Ends the handle, because its host has completed the session: the host has stated that it has processed all
    /// events that it has read. This function is called only if the engine started the host because of this session.
    mutating func completed(_ handle: HandleID) {
        sessions[handle]?.end(
            Failure(.completed, "the session was completed, which ended this handle; attach it again"), isNews: false)
        updateDescriptors()
    }

    private mutating func record(_ handle: HandleID, _ readings: [Progress]) {
        sessions[handle]?.progress.add(readings)
        if !readings.isEmpty { sessions[handle]?.progressDescriptor?.set() }
    }

    /// If the host has requested progress, sends this request again: a new engine does not know it. The reply is
    /// ignored.
    private mutating func resumeWatching(_ handle: HandleID) {
        guard let milliseconds = sessions[handle]?.progressMilliseconds, milliseconds > 0 else { return }
        lastSequence += 1
        let message = message(lastSequence, .watchProgress(handle, intervalMilliseconds: milliseconds))
        transport?.send(message)
    }

    /// If polls have returned enough events, sends a new credit: the number of events and bytes that the engine may
    /// push.
    mutating func grantCredit(_ handle: HandleID) {
        guard let session = sessions[handle], session.role == .consume, session.isAttached, let transport,
            let credit = sessions[handle]?.pushed.nextCredit(newest: session.newest)
        else { return }
        transport.send(.credit(handle, credit))
    }

    mutating func reported(_ unreported: Attention.Unreported, _ infos: [SessionInfo]) {
        attention.reported(unreported, infos)
        updateDescriptors()
    }

    mutating func announce(_ ticket: Ticket) {
        guard !isClosed else { return }
        announced.append(ticket)
        updateDescriptors()
    }

    /// Removes a released ticket from the list `announced`. If the ticket stayed in this list, the descriptor would
    /// stay readable for ever.
    mutating func withdraw(_ ticket: Ticket) {
        announced.remove(ticket)
        updateDescriptors()
    }

    mutating func dequeueAnnounced() -> Ticket? {
        guard let ticket = announced.popFirst() else { return nil }
        updateDescriptors()
        return ticket
    }

    private var descriptorCause: DescriptorCause {
        guard outage != nil else { return .events }
        return switch link {
        case .connected, .closed: .events
        case .connecting: .nothing
        case .failed: .failure
        }
    }

    mutating func updateDescriptors() {
        let cause = descriptorCause
        var polled: Set<ByteString> = []
        for (handle, session) in sessions where session.role == .consume && session.isAttached {
            sessions[handle]?.updateDescriptor(cause)
            if session.isPolled { polled.insert(ByteString(session.identifier)) }
        }
        let hasNews =
            switch cause {
            case .events: listing?.isLate != true && attention.hasUnreported(exceptEventsOf: polled)
            case .failure: outage?.isNews == true
            case .nothing: false
            }
        let isReadable = !announced.isEmpty || hasNews
        // A host may use edge-triggered polling, so the descriptor is written even while it is readable.
        guard isReadable || isSignalled else { return }
        isSignalled = isReadable
        descriptor.set(isReadable)
    }
}

extension Command {
    /// Whether the engine may delay the reply until a session is free.
    fileprivate var waits: Bool {
        switch self {
        case .createSession(_, _, _, let waits), .attachSession(_, _, _, let waits): waits
        default: false
        }
    }

    /// The handle that the engine must know. Nil for the commands that open and close a handle, and for those without
    /// one.
    fileprivate var handle: HandleID? {
        switch self {
        case .configuration(let handle), .updateConfiguration(let handle, _), .enqueue(let handle, _),
            .poll(let handle, _, _), .acknowledge(let handle, _), .complete(let handle, _), .tasks(let handle, _, _, _),
            .control(let handle, _, _), .claim(let handle, _, _, _), .invalidate(let handle, _),
            .challenges(let handle), .respond(let handle, _, _, _), .watchProgress(let handle, _),
            .attempts(let handle, _), .attemptsOfTasks(let handle, _), .history(let handle, _, _),
            .waits(let handle, _), .waitsOfTasks(let handle, _), .setActivity(let handle, _),
            .removeActivity(let handle, _), .activities(let handle):
            handle
        case .createSession, .attachSession, .stopWaiting, .closeSession, .sessions, .engine, .setLaunch, .launches,
            .currentLaunch, .setLimits, .limits, .conditions, .holds, .setNetwork, .networks, .metrics, .applications:
            nil
        }
    }
}
