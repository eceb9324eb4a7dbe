internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

extension CommandHandler {
    /// Creates or attaches; the handle counts from the reply on. Sending it again is harmless by itself.
    func open(
        _ handle: HandleID, _ role: Role,
        _ body: @escaping @Sendable (Transaction, String, ConsumerIdentity) throws(Failure) -> OpenedSession
    ) {
        guard let hello = connection.hello, let process = connection.process else { return }
        let consumer = ConsumerIdentity(client: hello.client, handle: handle, process: process)
        let (id, sequence, application) = (connection.id, sequence, hello.application)
        core.store({ (transaction) throws(Failure) in
            try body(transaction, application, consumer)
        }, then: { core, result in
            switch result {
            case .success(let opened):
                core.remember(opened.configuration, of: opened.id)
                core.connections[id]?.attach(handle, .init(session: opened.id, role: role))
                core.answer(
                    id, sequence,
                    .success(
                        .session(
                            opened.id, isNew: opened.isNew, newestEvent: opened.newestEvent,
                            unacknowledged: opened.unacknowledged)))
            case .failure(let failure): core.answer(id, sequence, .failure(failure))
            }
        })
    }

    func closeSession(_ handle: HandleID) {
        guard let attached = connection.detach(handle), let client = connection.hello?.client else {
            connection.reply(sequence, .done)
            return
        }
        read { (transaction) throws(Failure) in
            try transaction.releaseHandle(client: client, handle: handle, session: attached.session)
            return .done
        }
    }
}
