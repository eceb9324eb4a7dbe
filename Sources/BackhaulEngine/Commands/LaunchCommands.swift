internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The commands for launches. In a launch, the engine starts the program of an application, because a session needs it.
struct LaunchCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    func setLaunch(_ command: LaunchCommand?) throws(Failure) {
        if let command { try LaunchCheck.check(command) }
        let application = call.connection.application ?? ""
        let launch = Lock<StoredLaunch?>(nil)
        call.applyOnce(
            { (transaction) throws(Failure) in
                try transaction.launches.set(command, of: application)
                let stored = try transaction.launches.find(application)
                launch.withLock { $0 = stored }
                return (.done, nil)
            }, then: { _ in engine.hosts.launches.registered(launch.withLock { $0 }, of: application) })
    }

    /// Lists the launches of all applications of the store.
    func launches() {
        call.read(
            { (transaction) throws(Failure) in
                var listed: [(launch: StoredLaunch, storedFacts: LaunchedApplication.StoredFacts)] = []
                for launch in try transaction.launches.all() {
                    listed.append((launch, try transaction.storedFacts(launch.application)))
                }
                return listed
            }, reply: { listed in .launches(listed.map { engine.hosts.launches.info($0.launch, $0.storedFacts) }) })
    }

    /// Replies with the launch whose token is in the environment of the client's process. The token is a secret that
    /// the engine gives to each program that it launches. The engine started either the client's process, or another
    /// process that passed the token on to the client's process.
    func currentLaunch() {
        let application = call.connection.application ?? ""
        let token = call.connection.hello?.launch
        call.read(
            { (transaction) throws(Failure) -> (CurrentLaunch, LaunchedApplication.StoredFacts)? in
                guard let token, let launch = try transaction.launches.find(application),
                    launch.current?.token == token
                else {
                    return nil
                }
                let current = CurrentLaunch(
                    id: token.id, launches: max(1, launch.backoff.launches),
                    sessions: try transaction.launches.sessions(of: application))
                // An empty list means that the program has processed the events of all sessions. The launch is over,
                // although its row is not updated yet.
                guard !current.sessions.isEmpty else { return nil }
                return (current, try transaction.storedFacts(application))
            },
            reply: { found in
                guard let (launch, storedFacts) = found else { return .currentLaunch(nil) }
                var current = launch
                current.sessions = engine.clients.withWaiting(current.sessions, of: application)
                engine.hosts.launches.describe(&current.sessions, of: application, storedFacts)
                return .currentLaunch(current)
            })
    }

    /// Ends the launch for the session, because the program has processed the session's events. If the handle (the
    /// reference to the session) belongs to the launch, ends the handle, too. A repeated command ends the handle a
    /// second time, because the client has attached the handle again before it repeated the command.
    func complete(_ handle: HandleID, _ session: SessionID, deliveredThrough: EventID) {
        let application = call.connection.application ?? ""
        let client = call.connection.hello?.client
        let token = call.connection.hello?.launch
        let found = Lock<LaunchCompletion?>(nil)
        call.applyOnce(
            { (transaction) throws(Failure) in
                let count = try transaction.events.count(of: session, through: deliveredThrough)
                guard count == 0 else {
                    throw Failure(
                        .eventsOutstanding,
                        "\(count) events were returned and not acknowledged; acknowledge them, then complete",
                        detail: Int64(clamping: count))
                }
                let current = try transaction.launches.find(application)?.current
                let isOfLaunch = token != nil && current?.token == token
                let completion = try transaction.launches.complete(session, in: application)
                found.withLock { $0 = completion }
                return (.completed(endsHandle: completion.wasLaunched && isOfLaunch), nil)
            },
            then: { _ in
                guard let completion = found.withLock({ $0 }) else { return }
                engine.hosts.launches.completed(in: application, completion, hasRead: deliveredThrough > .zero)
            },
            always: { reply in
                guard reply == .completed(endsHandle: true), let client else { return }
                let attached = call.isConnected ? engine.clients.detach(handle, of: call.connection) : nil
                engine.runtime.store(
                    { (transaction) throws(Failure) in
                        try transaction.clients.releaseHandle(client: client, handle: handle, session: session)
                    },
                    then: { _ in
                        guard let attached else { return [] }
                        engine.clients.claims.released(
                            NamedSession(application: application, identifier: attached.identifier))
                        return []
                    })
            })
    }
}
