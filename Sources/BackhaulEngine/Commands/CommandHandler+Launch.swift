internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

extension CommandHandler {
    func setLaunch(_ command: LaunchCommand?) throws(Failure) {
        if let command { try LaunchCheck.check(command) }
        let application = connection.application ?? ""
        let launch = Lock<StoredLaunch?>(nil)
        once({ (transaction) throws(Failure) in
            try transaction.setLaunch(command, of: application)
            let stored = try transaction.launch(of: application)
            launch.withLock { $0 = stored }
            return (.done, nil)
        }, then: { core, _ in core.launches.registered(launch.withLock { $0 }, of: application) })
    }

    /// Of all applications of the store.
    func launches() {
        let (id, sequence) = (connection.id, sequence)
        core.store({ (transaction) throws(Failure) in
            var listed: [(launch: StoredLaunch, seen: LaunchedApplication.Seen)] = []
            for launch in try transaction.launches() {
                listed.append((launch, try transaction.seen(launch.application)))
            }
            return listed
        }, then: { core, result in
            core.clients.reply(id, sequence, result.map { listed in
                .launches(listed.map { core.launches.info($0.launch, $0.seen) })
            })
        })
    }

    /// The launch that the client's process, or one before it, was started by.
    func currentLaunch() {
        let application = connection.application ?? ""
        let token = connection.hello?.launch
        let (id, sequence) = (connection.id, sequence)
        core.store({ (transaction) throws(Failure) -> (CurrentLaunch, LaunchedApplication.Seen)? in
            guard let token, let launch = try transaction.launch(of: application), launch.current?.token == token else {
                return nil
            }
            let current = CurrentLaunch(
                id: token.id, launches: max(1, launch.backoff.launches),
                sessions: try transaction.launchedSessions(of: application))
            // All are completed: it is over, though its row does not say so yet.
            guard !current.sessions.isEmpty else { return nil }
            return (current, try transaction.seen(application))
        }, then: { core, result in
            core.clients.reply(id, sequence, result.map { found in
                guard let (launch, seen) = found else { return .currentLaunch(nil) }
                var current = launch
                current.sessions = core.withWaiting(current.sessions, of: application)
                core.launches.describe(&current.sessions, of: application, seen)
                return .currentLaunch(current)
            })
        })
    }

    /// Ends the launch for the session, and the handle when it was attached for the launch. Sent again it ends the
    /// handle again: the client has attached it anew to this engine before.
    func complete(_ handle: HandleID, _ session: SessionID, handedOut: EventID) {
        let (id, application) = (connection.id, connection.application ?? "")
        let client = connection.hello?.client
        let token = connection.hello?.launch
        let found = Lock<Transaction.Completion?>(nil)
        once({ (transaction) throws(Failure) in
            let count = try transaction.eventsThrough(session, handedOut)
            guard count == 0 else {
                throw Failure(
                    .eventsOutstanding,
                    "\(count) events were handed out and not acknowledged; acknowledge them, then complete",
                    detail: Int64(clamping: count))
            }
            let current = try transaction.launch(of: application)?.current
            let isOfLaunch = token != nil && current?.token == token
            let completion = try transaction.completeLaunch(of: session, in: application)
            found.withLock { $0 = completion }
            return (.completed(endsHandle: completion.wasLaunched && isOfLaunch), nil)
        }, then: { core, _ in
            guard let completion = found.withLock({ $0 }) else { return }
            core.launches.completed(in: application, completion, hasRead: handedOut > .zero)
        }, always: { core, reply in
            guard reply == .completed(endsHandle: true), let client else { return }
            let attached = core.clients[id]?.detach(handle)
            core.store({ (transaction) throws(Failure) in
                try transaction.releaseHandle(client: client, handle: handle, session: session)
            }, then: { core, _ in
                guard let attached else { return }
                core.claims.released(NamedSession(application: application, identifier: attached.identifier))
            })
        })
    }
}
