internal import BackhaulModel
internal import BackhaulPlatform

/// What a client knows, behind its lock.
struct ClientState: Sendable {
    enum Link: Sendable {
        /// No engine answers yet; commands wait.
        case seeking
        case connected
        /// The store or its engine cannot be used; the next command makes the client look again.
        case failed(Failure)
        case closed
    }

    typealias Waiting = @Sendable (Reply) -> Void

    struct Sent: Sendable {
        var command: Command
        var waiting: Waiting
    }

    private(set) var link = Link.seeking
    let client = ClientID.random()
    let application: String
    private let isObserver: Bool
    private let launch: LaunchToken?
    /// Of the engine that answers, or answered last.
    private(set) var engineProcess: Int32?
    /// An engine has answered: what is asked for from now on is in its store.
    var hasBeenServed: Bool { engineProcess != nil }
    private(set) var isLocal = false
    private var carrier: (any Carrier)?
    /// Over it an engine was asked to answer, which is that of this process.
    private var openingCarrier: (any Carrier)?
    private var openingProcess: Int32?
    private var lastSequence: UInt64 = 0
    private var pending: [UInt64: Sent] = [:]
    /// Attaching again after an engine has changed: nothing else is sent before these are answered.
    private var reattaching: [UInt64: HandleID] = [:]
    private var lastHandle: UInt64 = 0
    var sessions: [HandleID: AttachedSession] = [:]
    var attention = Attention()
    private var announced: [Ticket] = []
    private let descriptor: WakeUp
    /// What the descriptor shows.
    private var isShown = false

    init(_ options: ApplicationOptions, descriptor: WakeUp) {
        application = options.application
        isObserver = options.isObserver
        launch = options.launch
        self.descriptor = descriptor
    }

    func hello(process: Int32) -> Hello {
        Hello(client: client, application: application, process: process, isObserver: isObserver, launch: launch,
            departed: DepartedClients.all)
    }

    static let closedFailure = Failure(.invalidHandle, "the application was closed")

    var isClosed: Bool { if case .closed = link { true } else { false } }

    var failure: Failure? {
        switch link {
        case .failed(let failure): failure
        case .closed: Self.closedFailure
        case .seeking, .connected: nil
        }
    }

    /// Why a wait ended without an answer. `hasTicket`: the outcome can still be asked for.
    func timeoutFailure(hasTicket: Bool = true) -> Failure {
        let advice = hasTicket ? "ask for the outcome with the ticket" : "try again"
        guard let process = openingProcess ?? (isLocal ? nil : engineProcess) else {
            return Failure(.timeout, "the engine has not answered yet; \(advice)")
        }
        if ProcessIdentity.isStopped(processID: process) {
            return Failure(
                .engineUnresponsive,
                "the engine is process \(process), which is stopped; let it continue or end it",
                domain: .process, detail: Int64(process))
        }
        return Failure(
            .timeout, "the engine, process \(process), has not answered yet; \(advice)",
            domain: .process, detail: Int64(process))
    }

    // MARK: Commands

    /// Returns why it can never be answered, if so.
    mutating func send(_ command: Command, _ waiting: @escaping Waiting) -> Failure? {
        if isClosed { return Self.closedFailure }
        lastSequence += 1
        pending[lastSequence] = Sent(command: command, waiting: waiting)
        switch link {
        case .connected: transmit(lastSequence, command)
        case .failed: link = .seeking
        case .seeking, .closed: break
        }
        return nil
    }

    private func transmit(_ sequence: UInt64, _ command: Command) {
        // What waits for a session may wait for long, and the engine keeps nothing for it.
        let answeredThrough = (pending.lazy.filter { !$0.value.command.waits }.map(\.key).min() ?? sequence) - 1
        carrier?.send(.command(sequence: sequence, answeredThrough: answeredThrough, command))
    }

    /// The command's waiter, to be called without the lock.
    mutating func answered(_ sequence: UInt64, _ reply: Reply) -> Waiting? {
        if let handle = reattaching.removeValue(forKey: sequence) {
            reattached(handle, reply)
            if reattaching.isEmpty { resend() }
            return nil
        }
        return pending.removeValue(forKey: sequence)?.waiting
    }

    // MARK: The engine

    /// An engine answers. Sessions are attached again, then what was not answered is sent again, with the same ids.
    /// False when the client was closed meanwhile.
    mutating func connected(_ carrier: any Carrier, engineProcess: Int32, isLocal: Bool) -> Bool {
        guard !isClosed else { return false }
        openingCarrier = nil
        openingProcess = nil
        self.carrier = carrier
        self.engineProcess = engineProcess
        self.isLocal = isLocal
        reattaching = [:]
        for (handle, session) in sessions where session.isAttached {
            lastSequence += 1
            reattaching[lastSequence] = handle
            carrier.send(
                .command(
                    sequence: lastSequence, answeredThrough: 0,
                    .attachSession(identifier: session.identifier, session.role, handle, waits: false)))
        }
        if reattaching.isEmpty { resend() }
        return true
    }

    private mutating func reattached(_ handle: HandleID, _ reply: Reply) {
        switch reply {
        case .session(_, _, let newest, let unacknowledged):
            attached(handle, newest: newest, unacknowledged: unacknowledged)
            watchAgain(handle)
        case .failed(let failure): sessions[handle]?.failure = failure
        default: break
        }
        updateDescriptors()
    }

    private mutating func resend() {
        link = .connected
        for sequence in pending.keys.sorted() {
            if let sent = pending[sequence] { transmit(sequence, sent.command) }
        }
    }

    /// False when the client was closed meanwhile.
    mutating func opening(_ carrier: any Carrier, engineProcess: Int32) -> Bool {
        guard !isClosed else { return false }
        openingCarrier = carrier
        openingProcess = engineProcess
        return true
    }

    mutating func disconnected() {
        carrier = nil
        openingCarrier = nil
        openingProcess = nil
        // The next engine does not know what this one has pushed.
        for handle in sessions.keys { sessions[handle]?.begin(at: .zero) }
        guard !isClosed else { return }
        link = .seeking
    }

    /// No engine can be had: everything that waits is answered with the reason.
    mutating func failed(_ failure: Failure) -> [Waiting] {
        guard !isClosed else { return [] }
        link = .failed(failure)
        defer { pending = [:] }
        return pending.values.map(\.waiting)
    }

    /// Everything that waits, to be told of the close, and the carrier, to be closed: both without the lock, which an
    /// engine that is stopping takes to deliver its last replies.
    mutating func close() -> (waiting: [Waiting], carrier: (any Carrier)?) {
        guard !isClosed else { return ([], nil) }
        link = .closed
        DepartedClients.add(client)
        defer {
            pending = [:]
            carrier = nil
            openingCarrier = nil
        }
        return (pending.values.map(\.waiting), carrier ?? openingCarrier)
    }

    // MARK: Sessions and events

    mutating func nextHandle() -> HandleID {
        lastHandle += 1
        return HandleID(rawValue: lastHandle)
    }

    mutating func noticed(_ notice: Notice) {
        switch notice {
        case .event(let identifier, let newest): learn(identifier, newest: newest)
        case .events(let handle, let after, let through, let events):
            pushed(handle, events, after: after, through: through)
        case .yield(let identifier):
            attention.learnYield(identifier)
            updateDescriptors()
        case .progress(let handle, let readings): learn(handle, readings)
        }
    }

    mutating func learn(_ identifier: String, newest: EventID) {
        attention.learn(identifier, newest: newest)
        let name = ExactText(identifier)
        for (handle, session) in sessions where ExactText(session.identifier) == name {
            sessions[handle]?.learn(newest: newest)
        }
        updateDescriptors()
    }

    /// The launch that the handle was attached for is over, and the handle with it.
    mutating func completed(_ handle: HandleID) {
        sessions[handle]?.end(
            Failure(.completed, "the session was completed, which ended this handle; attach it again"))
        updateDescriptors()
    }

    private mutating func learn(_ handle: HandleID, _ readings: [Progress]) {
        sessions[handle]?.progress.add(readings)
        if !readings.isEmpty { sessions[handle]?.progressDescriptor?.set() }
    }

    /// A new engine knows of no watcher; its reply is waited for by nobody.
    private mutating func watchAgain(_ handle: HandleID) {
        guard let milliseconds = sessions[handle]?.progressMilliseconds, milliseconds > 0 else { return }
        lastSequence += 1
        transmit(lastSequence, .watchProgress(handle, intervalMilliseconds: milliseconds))
    }

    /// Lets the engine push more, when enough was handed out.
    mutating func renewCredit(_ handle: HandleID) {
        guard let session = sessions[handle], session.role == .consume, session.isAttached, let carrier,
            let credit = sessions[handle]?.pushed.nextCredit(newest: session.newest)
        else { return }
        carrier.send(.credit(handle, credit))
    }

    mutating func told(_ untold: Attention.Untold, _ infos: [SessionInfo]) {
        attention.told(untold, infos)
        updateDescriptors()
    }

    mutating func announce(_ ticket: Ticket) {
        announced.append(ticket)
        updateDescriptors()
    }

    /// Otherwise the descriptor would tell for ever of a ticket that the host has waited for and released.
    mutating func withdraw(_ ticket: Ticket) {
        announced.removeAll { $0 === ticket }
        updateDescriptors()
    }

    mutating func takeAnnounced() -> Ticket? {
        guard !announced.isEmpty else { return nil }
        defer { updateDescriptors() }
        return announced.removeFirst()
    }

    mutating func updateDescriptors() {
        var anything = !announced.isEmpty || attention.hasUntold
        for (handle, session) in sessions where session.role == .consume && session.isAttached {
            sessions[handle]?.show()
            anything = anything || session.hasUnseen
        }
        // Written again while it is shown: a host that watches for edges learns of what is new.
        guard anything || isShown else { return }
        isShown = anything
        descriptor.set(anything)
    }
}

extension Command {
    /// Answered when a session is free.
    fileprivate var waits: Bool {
        switch self {
        case .createSession(_, _, _, let waits), .attachSession(_, _, _, let waits): waits
        default: false
        }
    }
}
