internal import BackhaulModel
internal import BackhaulStore

/// The command that lists the applications of the store.
struct ApplicationCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    /// Lists the applications that have a session, a launch command or a connected host, sorted by identifier.
    func applications() {
        var running: [SessionID: UInt64] = [:]
        engine.base.transfers.visit { running[$0.session, default: 0] += 1 }
        call.read(
            { [running] (transaction) throws(Failure) in try transaction.applications.all(running: running) },
            reply: { stored in
                var found = Dictionary(uniqueKeysWithValues: stored.map { ($0.identifier, $0) })
                // A process may have several connections.
                var hosts: [String: Set<Int32>] = [:]
                for connection in engine.clients.registry.all {
                    guard let hello = connection.hello, !hello.isObserver else { continue }
                    hosts[hello.application, default: []].insert(hello.process)
                }
                for (application, processes) in hosts {
                    found[application, default: ApplicationInfo(identifier: application)].hosts = UInt32(
                        processes.count)
                }
                return .applications(found.values.sorted { $0.identifier < $1.identifier })
            })
    }
}
