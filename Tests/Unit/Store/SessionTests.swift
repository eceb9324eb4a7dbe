import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulStore

@Suite("Sessions and their consumers")
struct SessionTests {
    let scratch = Scratch()

    private var configuration: SessionConfiguration {
        var configuration = SessionConfiguration(identifier: "gallery")
        configuration.connectionsPerOrigin = 3
        configuration.maximumRunningTasks = 5
        configuration.maximumAttempts = 7
        configuration.firstRetryDelayMilliseconds = .max
        configuration.longestRetryDelayMilliseconds = 11
        configuration.requestTimeoutMilliseconds = 13
        configuration.resourceTimeoutMilliseconds = UInt64(Int64.max)
        configuration.caFile = "/etc/own.pem"
        configuration.tolerances = .missingCloseNotify
        return configuration
    }

    private func create(
        _ store: TestStore, _ configuration: SessionConfiguration, _ consumer: ConsumerIdentity, role: Role = .consume,
        application: String = "org.example"
    ) throws -> OpenedSession {
        try store.run {
            try $0.sessions.create(
                application: application, configuration: configuration, role: role, consumer: consumer, now: 42)
        }
    }

    private func attach(
        _ store: TestStore, _ consumer: ConsumerIdentity, role: Role = .consume, application: String = "org.example"
    ) throws -> OpenedSession {
        try store.run {
            try $0.sessions.attach(
                application: application, identifier: "gallery", role: role, consumer: consumer)
        }
    }

    @Test("a session's configuration is stored; to attach, a handle needs only the session's identifier")
    func remembered() throws {
        let first: OpenedSession
        do {
            let store = try TestStore(scratch.path)
            first = try create(store, configuration, .of(1))
            #expect(first.isNew)
            #expect(first.newestEvent == .zero)
            store.close()
        }
        let store = try TestStore(scratch.path)
        let second = try attach(store, .of(1))
        #expect(!second.isNew)
        #expect(second.id == first.id)
        #expect(second.configuration == configuration)
        let third = try create(store, SessionConfiguration(identifier: "gallery"), .of(2), role: .produce)
        #expect(!third.isNew)
        #expect(third.configuration == configuration)
    }

    @Test("if the same handle creates a session two times, both results report a new session")
    func repeated() throws {
        let store = try TestStore(scratch.path)
        #expect(try create(store, configuration, .of(1)).isNew)
        #expect(try create(store, configuration, .of(1)).isNew)
        #expect(try !create(store, configuration, .of(2), role: .observe).isNew)
    }

    @Test("a session's configuration can be replaced, but not its identifier")
    func update() throws {
        let store = try TestStore(scratch.path)
        let id = try create(store, configuration, .of(1)).id
        let plain = SessionConfiguration(identifier: "gallery")
        try store.run { try $0.sessions.update(id, plain) }
        #expect(
            try store.run { try $0.sessions.configuration(of: id) } == plain)
        let failure = #expect(throws: Failure.self) {
            try store.run { try $0.sessions.update(id, SessionConfiguration(identifier: "other")) }
        }
        #expect(failure?.status == .invalidArgument)
        let unknown = #expect(throws: Failure.self) {
            try store.run { try $0.sessions.update(SessionID(rawValue: .max), plain) }
        }
        #expect(unknown?.status == .notFound)
    }

    @Test("identifiers of sessions are compared by bytes, and each application has its own sessions")
    func identifiers() throws {
        let store = try TestStore(scratch.path)
        let mine = try create(store, SessionConfiguration(identifier: "caf\u{E9}"), .of(1)).id
        let decomposed = try create(store, SessionConfiguration(identifier: "cafe\u{301}"), .of(1))
        #expect(decomposed.isNew)
        let theirs = try create(store, SessionConfiguration(identifier: "caf\u{E9}"), .of(1), application: "org.other")
        #expect(theirs.isNew)
        #expect(theirs.id != mine)
        #expect(
            try store.run { try $0.sessions.infos(application: "org.example").count } == 2)
    }

    @Test("attaching to an unknown session fails with the status `notFound`")
    func notFound() throws {
        let store = try TestStore(scratch.path)
        #expect(#expect(throws: Failure.self) { try attach(store, .of(1)) }?.status == .notFound)
        _ = try create(store, configuration, .of(1))
        let other = #expect(throws: Failure.self) { try attach(store, .of(1), application: "org.other") }
        #expect(other?.status == .notFound)
    }

    @Test("a second consumer is refused, and the error names the first consumer's process; other roles are accepted")
    func inUse() throws {
        let store = try TestStore(scratch.path)
        let id = try create(store, configuration, .of(1)).id
        for second in [ConsumerIdentity.of(2), .of(1, client: 2)] {
            let failure = #expect(throws: Failure.self) { try attach(store, second) }
            #expect(failure?.status == .inUse)
            #expect(failure?.domain == .process)
            #expect(failure?.detail == Int64(getpid()))
            _ = try attach(store, second, role: .produce)
            _ = try attach(store, second, role: .observe)
        }
        _ = try attach(store, .of(1))
        #expect(try store.info(id)?.consumer == Int64(getpid()))
    }

    @Test("only the consumer that has the claim can release this claim; then another consumer can get it")
    func released() throws {
        let store = try TestStore(scratch.path)
        let id = try create(store, configuration, .of(1)).id
        func release(_ consumer: ConsumerIdentity) throws {
            try store.run {
                try $0.clients.releaseHandle(client: consumer.client, handle: consumer.handle, session: id)
            }
        }
        try release(.of(2))
        try release(.of(1, client: 2))
        #expect(throws: Failure.self) { try attach(store, .of(2)) }
        try release(.of(1))
        try release(.of(1))
        #expect(try store.info(id)?.consumer == 0)
        _ = try attach(store, .of(2))
        #expect(throws: Failure.self) { try attach(store, .of(1)) }
    }

    @Test("a consumer keeps its claim when the engine ends, and loses the claim when its process disconnects")
    func outlives() throws {
        do {
            let store = try TestStore(scratch.path)
            _ = try create(store, configuration, .of(1))
            store.close()
        }
        let store = try TestStore(scratch.path)
        try store.run { try $0.clients.releaseDead() }
        #expect(throws: Failure.self) { try attach(store, .of(1, client: 2)) }
        try store.run { try $0.clients.releaseClaims(of: [ConsumerIdentity.of(1).client], connected: []) }
        _ = try attach(store, .of(1, client: 2))
    }

    @Test(
        "if a consumer's process is dead, its claim is released",
        arguments: [
            ProcessIdentity(processID: getpid(), startTime: 1, bootID: ProcessIdentity.currentBootID),
            ProcessIdentity(processID: .max, startTime: .max, bootID: ProcessIdentity.currentBootID),
            ProcessIdentity(
                processID: getpid(), startTime: ProcessIdentity.current.startTime, bootID: "an earlier boot"),
        ])
    func dead(process: ProcessIdentity) throws {
        let store = try TestStore(scratch.path)
        let id = try create(store, configuration, .of(1, process: process)).id
        #expect(try store.info(id)?.consumer == 0)
        _ = try attach(store, .of(9, client: 9))
        #expect(try store.info(id)?.consumer == Int64(getpid()))
        let clients = try store.run { transaction in
            try transaction.clients.releaseDead()
            return try transaction.tables.clients.all().map(\.client)
        }
        #expect(clients == [ClientID(high: 9, low: 7)])
    }

    @Test("listings of sessions show rounds, tasks, events and consumers")
    func listing() throws {
        let store = try TestStore(scratch.path)
        let id = try create(store, configuration, .of(1)).id
        _ = try create(store, SessionConfiguration(identifier: "empty"), .of(2), role: .produce)
        let tasks = try store.enqueue([.numbered(1), .numbered(2)], in: id)
        try store.end(tasks[0])
        let newest = try store.events(of: id).last!.id
        let infos = try store.run { try $0.sessions.infos(application: "org.example") }
        #expect(
            infos == [
                SessionInfo(
                    identifier: "empty", round: 0, liveTasks: 0, events: 0, hasFinishedRound: false,
                    isInvalidating: false,
                    consumer: 0, createdMilliseconds: 42, newestEvent: .zero),
                SessionInfo(
                    identifier: "gallery", round: 1, liveTasks: 1, events: 1, hasFinishedRound: false,
                    isInvalidating: false, consumer: Int64(getpid()), createdMilliseconds: 42, newestEvent: newest),
            ])
        let active = try store.run { try $0.sessions.active() }
        #expect(active.map(\.id) == [id])
        #expect(active.first?.configuration == configuration)
        let waiting = try store.run { try $0.sessions.needingAttention(application: "org.example") }
        #expect(waiting.map(\.session) == [id])
        #expect(waiting.map(\.newestEvent) == [newest])
        try store.end(tasks[1])
        #expect(try store.info(id)?.hasFinishedRound == true)
        #expect(
            try store.run { try $0.sessions.info(of: SessionID(rawValue: 77)) == nil })
    }

    @Test("a page of the sessions begins after the given identifier, and has at most the given number of sessions")
    func pages() throws {
        let store = try TestStore(scratch.path)
        for name in ["c", "a", "d", "b"] { _ = try store.session(name) }
        func page(after: String) throws -> [String] {
            try store.run { try $0.sessions.infos(application: "org.example", after: after, maximum: 2) }
                .map(\.identifier)
        }
        #expect(try page(after: "") == ["a", "b"])
        #expect(try page(after: "b") == ["c", "d"])
        #expect(try page(after: "d").isEmpty)
    }

    @Test("a handle can attach to an invalidated session, but cannot create the session again")
    func invalidated() throws {
        let store = try TestStore(scratch.path)
        let id = try create(store, configuration, .of(1)).id
        try store.enqueue([.numbered(1)], in: id)
        try store.run { try $0.sessions.invalidate(id, cancelTasks: true, now: 5) }
        let attached = try attach(store, .of(1))
        #expect(attached.isInvalidating)
        #expect(attached.unacknowledged == 2)
        let failure = #expect(throws: Failure.self) { try create(store, configuration, .of(1)) }
        #expect(failure?.status == .invalidated)
    }
}

@Suite("Commands")
struct CommandTests {
    let scratch = Scratch()
    private let client = ClientID(high: .max, low: 1 << 63)

    private func command(_ sequence: UInt64) -> CommandID { CommandID(client: client, sequence: sequence) }

    @Test("the reply of an applied command is stored until the client has received it")
    func applied() throws {
        let store = try TestStore(scratch.path)
        try store.run { transaction in
            for sequence in [1, 2, 3] as [UInt64] {
                try transaction.commands.remember(command(sequence), reply: [UInt8(sequence), 0, 255])
            }
        }
        store.close()
        let again = try TestStore(scratch.path)
        try again.run { transaction in
            #expect(try transaction.commands.reply(to: command(2)) == [2, 0, 255])
            let other = CommandID(client: ClientID(high: 1, low: 1), sequence: 2)
            #expect(try transaction.commands.reply(to: other) == nil)
            try transaction.commands.forget(client, through: 2)
            #expect(try transaction.commands.reply(to: command(2)) == nil)
            #expect(try transaction.commands.reply(to: command(3)) == [3, 0, 255])
            try transaction.commands.remember(command(4), reply: [])
            #expect(try transaction.commands.reply(to: command(4)) == [])
            try transaction.commands.forget(client, through: .max)
            #expect(try transaction.commands.reply(to: command(4)) == nil)
        }
    }

    @Test("the reply to a command and the changes by this command are stored together or not at all")
    func together() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        #expect(throws: Failure.self) {
            try store.run { transaction in
                try transaction.commands.remember(command(1), reply: [1])
                _ = try transaction.tasks.enqueue(
                    [(.numbered(1), .example), (.numbered(1), .example)], in: session, now: 1)
            }
        }
        #expect(
            try store.run { try $0.commands.reply(to: command(1)) } == nil)
    }

    @Test("a command whose sequence number is out of range is refused without a crash")
    func outOfRange() throws {
        let store = try TestStore(scratch.path)
        for body in [
            Body { _ = try $0.commands.reply(to: command(.max)) },
            Body { try $0.commands.remember(command(.max), reply: []) },
        ] {
            #expect(#expect(throws: Failure.self) { try store.run(body.run) }?.status == .invalidArgument)
        }
    }

    private struct Body: Sendable {
        let run: @Sendable (Transaction) throws -> Void
        init(_ run: @escaping @Sendable (Transaction) throws -> Void) { self.run = run }
    }

    @Test("stored replies for dead or unknown clients are removed when an engine starts")
    func orphans() throws {
        let store = try TestStore(scratch.path)
        try store.session()
        let living = CommandID(client: ConsumerIdentity.of(1).client, sequence: 1)
        try store.run { transaction in
            try transaction.commands.remember(living, reply: [1])
            try transaction.commands.remember(command(1), reply: [1])
            try transaction.clients.releaseDead()
            #expect(try transaction.commands.reply(to: living) == [1])
            #expect(try transaction.commands.reply(to: command(1)) == nil)
        }
    }

    @Test("a disconnected client keeps its stored replies until its process reports it as closed, but loses its claims")
    func disconnected() throws {
        let store = try TestStore(scratch.path)
        try store.session()
        let consumer = ConsumerIdentity.of(1)
        let living = CommandID(client: consumer.client, sequence: 1)
        try store.run { transaction in
            _ = try transaction.sessions.attach(
                application: "org.example", identifier: "gallery", role: .consume, consumer: consumer)
            try transaction.commands.remember(living, reply: [1])
            #expect(try transaction.clients.withClaims() == [living.client])
            try transaction.clients.releaseClaims(of: [living.client], connected: [])
            #expect(try transaction.clients.withClaims() == [])
            #expect(try transaction.commands.reply(to: living) == [1])
            try transaction.clients.releaseClosed([living.client], of: consumer.process)
            #expect(try transaction.commands.reply(to: living) == nil)
        }
    }

    @Test("the clients of a living process that are not connected have a limit, and the last ones stay")
    func manyDisconnected() throws {
        let store = try TestStore(scratch.path)
        try store.session()
        let consumers = (10..<210).map { ConsumerIdentity.of(1, client: $0) }
        try store.run { transaction in
            for consumer in consumers {
                _ = try transaction.sessions.attach(
                    application: "org.example", identifier: "gallery", role: .produce, consumer: consumer)
            }
            try transaction.clients.releaseClaims(of: [consumers[0].client], connected: [consumers[1].client])
            let left = try transaction.tables.clients.all().map(\.client)
            #expect(left == [consumers[1].client] + consumers.suffix(128).map(\.client))
        }
    }

    @Test("when a client disconnects, the stored replies for clients of ended processes are removed")
    func endedProcess() throws {
        let store = try TestStore(scratch.path)
        try store.session()
        let ended = ProcessIdentity(processID: .max, startTime: .max, bootID: ProcessIdentity.currentBootID)
        let consumer = ConsumerIdentity.of(1, client: 2, process: ended)
        let dead = CommandID(client: consumer.client, sequence: 1)
        try store.run { transaction in
            _ = try transaction.sessions.attach(
                application: "org.example", identifier: "gallery", role: .produce, consumer: consumer)
            try transaction.commands.remember(dead, reply: [1])
            try transaction.clients.releaseClaims(of: [ConsumerIdentity.of(1).client], connected: [])
            #expect(try transaction.commands.reply(to: dead) == nil)
            #expect(try transaction.tables.clients.all().map(\.client) == [ConsumerIdentity.of(1).client])
        }
    }
}
