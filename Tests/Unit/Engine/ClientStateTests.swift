import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import BackhaulWire
import Testing

@testable import BackhaulClient

/// A connection to an engine that records the messages and sends no replies.
private final class FakeTransport: ClientTransport {
    private let sent = Lock<[ClientMessage]>([])

    func send(_ message: ClientMessage) { sent.withLock { $0.append(message) } }
    func close() {}

    var commands: [(sequence: UInt64, repliedThrough: UInt64, command: Command)] {
        sent.withLock { messages in
            messages.compactMap { message in
                guard case .command(let sequence, let repliedThrough, let command) = message else { return nil }
                return (sequence, repliedThrough, command)
            }
        }
    }
}

/// The state of a client. If an engine ends, the client sends the commands without a reply to the next engine.
@Suite("The commands of a client")
struct ClientStateTests {
    private var state: ClientState
    private let descriptor: EventFD

    init() throws {
        descriptor = try EventFD()
        state = ClientState(
            ApplicationOptions(application: "org.example.test", storePath: "/", hosting: .embedded),
            descriptor: descriptor)
    }

    private mutating func connect() -> FakeTransport {
        let transport = FakeTransport()
        let isConnected = state.connected(transport, engineProcess: 1, isLocal: false)
        #expect(isConnected)
        return transport
    }

    private mutating func send(_ command: Command) {
        let failure = state.send(command) { _ in }
        #expect(failure == nil)
    }

    /// Delivers the reply to a command that the host has sent.
    private mutating func reply(_ sequence: UInt64) {
        let replied = state.replied(sequence, .done)
        #expect(replied != nil)
    }

    /// Adds a session that the first engine has attached.
    private mutating func attach(_ identifier: String) throws -> (handle: HandleID, descriptor: EventFD) {
        let (handle, descriptor) = (state.nextHandle(), try EventFD())
        state.sessions[handle] = AttachedSession(identifier: identifier, role: .consume, descriptor: descriptor)
        state.attached(handle, newest: .zero, unacknowledged: 0)
        return (handle, descriptor)
    }

    @Test("each command has the largest number up to which all replies have arrived")
    mutating func repliedThrough() {
        let transport = connect()
        var random = SystemRandomNumberGenerator()
        var open: Set<UInt64> = []
        for sequence in 1...2_000 as ClosedRange<UInt64> {
            // A command that waits until a session is free does not hold the number back.
            let waits = sequence.isMultiple(of: 7)
            let command: Command =
                waits
                ? .attachSession(identifier: "s", .consume, HandleID(rawValue: 1), waits: true) : .sessions(after: "")
            send(command)
            if !waits { open.insert(sequence) }
            #expect(transport.commands.last?.sequence == sequence)
            #expect(transport.commands.last?.repliedThrough == (open.min() ?? sequence) - 1)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                guard let replied = open.randomElement() else { continue }
                open.remove(replied)
                reply(replied)
            }
        }
    }

    /// If each command were compared with all others, the test would take hours.
    @Test("a hundred thousand commands without a reply are sent to the next engine", .timeLimit(.minutes(5)))
    mutating func many() {
        let count = 100_000
        _ = connect()
        for _ in 0..<count { send(.sessions(after: "")) }
        state.disconnected()
        let next = connect()
        #expect(next.commands.count == count)
        #expect(next.commands.allSatisfy { $0.repliedThrough == 0 })
        for sequence in 1...UInt64(count) { reply(sequence) }
        send(.sessions(after: ""))
        #expect(next.commands.last?.repliedThrough == UInt64(count))
    }

    @Test("a handle that an engine cannot attach again is closed there, and no later engine attaches it")
    mutating func refusedHandle() throws {
        let (handle, descriptor) = try attach("s")
        let next = connect()
        #expect(
            next.commands.map(\.command) == [
                .attachSession(identifier: "s", .consume, handle, waits: false)
            ])
        _ = state.replied(next.commands[0].sequence, .failed(failure))
        #expect(next.commands.last?.command == .closeSession(handle))
        // The engine ends before it has closed the handle.
        state.disconnected()
        let third = connect()
        #expect(third.commands.map(\.command) == [.closeSession(handle)])
        // The descriptor is readable until the host has got the failure.
        #expect(isReadable(descriptor.number))
        for _ in 0..<2 {
            let taken = state.sessions[handle]?.takeFailure()
            #expect(taken == failure)
            #expect(!isReadable(descriptor.number))
        }
    }

    @Test("if an engine cannot attach a handle again, a command that the last engine got fails with the reason")
    mutating func commandOfRefusedHandle() throws {
        _ = connect()
        let (handle, _) = try attach("s")
        let listing = Command.tasks(handle, TaskSelection(), after: .zero, maximum: 1)
        for command in [listing, .sessions(after: ""), listing] { send(command) }
        state.disconnected()
        let next = connect()
        let sent = next.commands.map(\.sequence)
        _ = state.replied(sent[0], .failed(failure))
        let unknown = Failure(.invalidHandle, "the session is not attached; attach it first")
        #expect(state.replied(1, .failed(unknown))?.reply == .failed(failure))
        #expect(state.replied(2, .failed(unknown))?.reply == .failed(unknown))
        #expect(state.replied(3, .done)?.reply == .done)
    }

    private let failure = Failure(.storeFull, "the disk is full")

    /// Notes that no engine can be used. `commands`: the number of commands that fail.
    private mutating func fail(commands: Int = 0) {
        let waiting = state.failed(failure)
        #expect(waiting.count == commands)
    }

    @Test("if a session is removed during a poll, its descriptor is readable after the poll, whose reply may be empty")
    mutating func removedDuringPoll() throws {
        _ = connect()
        let session = try attach("s")
        let newest = state.pollBegan(session.handle)
        state.received(.removed(session.handle))
        #expect(!isReadable(session.descriptor.number))
        state.polled(session.handle, after: .zero, [], more: false, newest: newest)
        state.pollEnded(session.handle)
        #expect(isReadable(session.descriptor.number))
    }

    @Test("after a host has completed a session, the descriptor of the progress is not readable")
    mutating func completedWithProgress() throws {
        let handle = try attach("s").handle
        let progress = try EventFD()
        state.sessions[handle]?.progressDescriptor = progress
        let reading = Progress(
            task: TaskID(rawValue: 1), state: .running, reason: .none, offset: 1, size: nil, bytesPerSecond: 1)
        state.received(.progress(handle, [reading]))
        #expect(isReadable(progress.number))
        state.completed(handle)
        #expect(!isReadable(progress.number))
    }

    @Test("if no other engine can be used, each descriptor is readable until a poll has got the failure")
    mutating func outage() throws {
        _ = connect()
        let (handle, session) = try attach("s")
        // The host has not read this event when the engine ends.
        state.record("s", newest: EventID(rawValue: 5))
        state.disconnected()
        fail()
        #expect(isReadable(descriptor.number) && isReadable(session.number))
        // A poll of the application gets the failure, and the client searches for an engine.
        let taken = state.takeFailure()
        #expect(taken == failure)
        #expect(!isReadable(descriptor.number) && !isReadable(session.number))
        fail()
        #expect(!isReadable(descriptor.number) && isReadable(session.number))
        // A poll of the session gets the failure. The event is still unread, but no further poll could return it.
        _ = state.pollBegan(handle)
        send(.poll(handle, after: .zero, maximum: 1))
        #expect(!isReadable(session.number))
        fail(commands: 1)
        state.pollEnded(handle)
        #expect(!isReadable(descriptor.number) && !isReadable(session.number))
        // The next engine attaches the session again, and the event is announced again.
        state.searchAgain()
        let next = connect()
        #expect(next.commands.map(\.command) == [.attachSession(identifier: "s", .consume, handle, waits: false)])
        let reply = Reply.session(
            SessionID(rawValue: 1), isNew: false, newestEvent: EventID(rawValue: 5), unacknowledged: 1)
        _ = state.replied(next.commands[0].sequence, reply)
        #expect(isReadable(descriptor.number) && isReadable(session.number))
        // This engine also ends. The host has got the failure already, and does not get it again so soon.
        state.disconnected()
        fail()
        #expect(!isReadable(descriptor.number) && !isReadable(session.number))
    }

    @Test("if no other engine can be used, the client searches again after a pause, without a command")
    mutating func retries() {
        fail()
        #expect(state.retryDeadline == nil)
        state.searchAgain()
        _ = connect()
        state.disconnected()
        fail()
        #expect(state.retryDeadline != nil && state.failure == failure)
        let shared = Lock(state)
        #expect(EngineConnector.waitUntilConnecting(shared))
        let present = shared.withLock { $0.failure }
        #expect(present == nil)
        let again = failure
        _ = shared.change { $0.failed(again) }
        _ = shared.change { $0.close() }
        #expect(!EngineConnector.waitUntilConnecting(shared))
    }

    @Test("the pauses between the searches for an engine grow up to a minute")
    func pauses() {
        var outage = Outage()
        let pauses = (0..<6).map { _ in
            _ = outage.nextRetry()
            return outage.pauseMilliseconds
        }
        #expect(pauses == [5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
    }

    private mutating func open() -> FakeTransport {
        let transport = FakeTransport()
        let isOpening = state.opening(transport, engineProcess: 1)
        #expect(isOpening)
        return transport
    }

    @Test("if an engine sends no welcome in time, the client releases the connection to it")
    mutating func noWelcome() {
        weak var transport: FakeTransport?
        transport = open()
        let wasKept = transport != nil
        #expect(wasKept)
        fail()
        let isKept = transport != nil
        #expect(!isKept)
    }

    @Test("if no engine can be used, the next engine closes each handle that an earlier engine may know")
    mutating func keptCloses() {
        _ = connect()
        let (closed, attached, unsent) = (state.nextHandle(), state.nextHandle(), state.nextHandle())
        send(.closeSession(closed))
        send(.attachSession(identifier: "s", .consume, attached, waits: false))
        send(.sessions(after: ""))
        state.disconnected()
        fail(commands: 3)
        // No engine gets this command, so no engine knows the handle.
        send(.attachSession(identifier: "s", .consume, unsent, waits: false))
        fail(commands: 3)
        state.searchAgain()
        let next = connect()
        #expect(next.commands.map(\.command) == [.closeSession(closed), .closeSession(attached)])
    }

    @Test("tickets are returned in the order of their outcomes, without those that were released")
    mutating func announced() {
        let count = 100_000
        let tickets = (0..<count).map { _ in
            Ticket(announced: { _ in }, withdrawn: { _ in }, abandoned: {})
        }
        for ticket in tickets { state.announce(ticket) }
        for ticket in tickets[10...] { state.withdraw(ticket) }
        for number in 0..<10 {
            let next = state.dequeueAnnounced()
            #expect(next === tickets[number])
        }
        var next = state.dequeueAnnounced()
        #expect(next == nil)
        state.announce(tickets[20])
        next = state.dequeueAnnounced()
        #expect(next === tickets[20])
    }
}

/// The connection to an engine of another process.
@Suite("Messages over the socket")
struct SocketClientTransportTests {
    @Test("a command that is too large for a message fails, and later commands are sent")
    func tooLarge() throws {
        let store = try TestStore()
        let application = try store.open()
        defer { application.close() }
        let directory = try StoreDirectory.open(path: store.store)
        // The engine may not have created its socket yet.
        var connection: SocketClientTransport?
        _ = waitUntil {
            connection = try? SocketClientTransport(directory: directory)
            return connection != nil
        }
        let transport = try #require(connection)
        let ids = (1...600_000 as ClosedRange<UInt64>).map { TaskID(rawValue: $0 << 32) }
        let hello = Hello(
            client: .random(), application: "org.example.other", process: ProcessIdentity.current.processID,
            isObserver: false, launch: nil, closedClients: [])
        transport.send(.hello(hello))
        transport.send(
            .command(
                sequence: 1, repliedThrough: 0, .control(HandleID(rawValue: 1), .cancel, TaskSelection(ids: ids))))
        transport.send(.command(sequence: 2, repliedThrough: 0, .sessions(after: "")))
        var reader = FrameReader()
        var replies: [UInt64: Reply] = [:]
        _ = transport.run(until: .ofTests, &reader) { message in
            if case .reply(let sequence, let reply) = message { replies[sequence] = reply }
            return replies.count < 2
        }
        guard case .failed(let failure) = replies[1] else { throw Unexpected() }
        #expect(failure.status == .tooMany && failure.message.contains("more than"))
        #expect(replies[2] == .sessions([], more: false))
    }

    @Test(
        "a closed client is freed, although the host has not read the ticket of a session that was announced",
        arguments: [true, false])
    func freed(isAnnouncedBeforeClose: Bool) throws {
        let store = try TestStore()
        weak var client: ApplicationClient?
        do {
            let application = try store.open()
            client = application
            let ticket = application.createSession(SessionConfiguration(identifier: "s"), .consume)
            guard case .session? = ticket.wait(until: .ofTests) else { throw Unexpected() }
            if isAnnouncedBeforeClose { ticket.announce() }
            application.close()
            if !isAnnouncedBeforeClose { ticket.announce() }
        }
        #expect(waitUntil { client == nil })
    }
}
