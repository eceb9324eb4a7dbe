import BackhaulModel
import BackhaulPlatform
import BackhaulStore

@testable import BackhaulEngine

/// A host that is connected to the engine. The fake client stores the messages that it receives from the engine.
final class FakeClient {
    let id = ConnectionID.next()
    let connection: ClientConnection
    private let inbox = Inbox()

    final class Inbox {
        var messages: [EngineMessage] = []
        var isBackpressured = false
    }

    init(
        _ clients: ClientRegistry, application: String = "org.example", process number: Int32 = 1,
        isObserver: Bool = false, launch: LaunchToken? = nil
    ) {
        let inbox = inbox
        connection = ClientConnection(
            id: id, isLocal: false, isBackpressured: { inbox.isBackpressured }, deliver: { inbox.messages.append($0) })
        let process = ProcessIdentity(processID: number, startTime: 1, bootID: "boot")
        connection.introduce(
            Hello(
                client: .random(), application: application, process: number, isObserver: isObserver, launch: launch),
            process: process)
        clients.add(connection)
    }

    var isBackpressured: Bool {
        get { inbox.isBackpressured }
        set { inbox.isBackpressured = newValue }
    }

    func address(_ handle: UInt64) -> HandleAddress {
        HandleAddress(connection: id, handle: HandleID(rawValue: handle))
    }

    func attach(_ handle: UInt64, _ session: SessionID, _ identifier: String = "photos", _ role: Role = .consume) {
        connection.attach(
            HandleID(rawValue: handle),
            .init(session: session, identifier: identifier, role: role, pushCredit: PushCredit(newest: .zero)))
    }

    /// Returns the messages that arrived since the last call.
    func takeMessages() -> [EngineMessage] {
        defer { inbox.messages = [] }
        return inbox.messages
    }

    var replies: [Reply] {
        takeMessages().compactMap { if case .reply(_, let reply) = $0 { reply } else { nil } }
    }

    var notices: [Notice] {
        takeMessages().compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
    }
}
