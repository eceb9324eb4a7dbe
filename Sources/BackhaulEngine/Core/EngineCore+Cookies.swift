internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// A session's cookies, and what of them is in the store.
struct SessionCookies {
    let jar: CookieJar
    var isPersistent: Bool
    var stored: Set<String> = []
}

extension EngineCore {
    /// Servers set the same cookie with each answer; a crash may lose those of so long.
    private static let cookieDelayMilliseconds: Int64 = 500

    /// The jar that the session's configuration wants. What the store has comes into it before any task that is read
    /// from the store afterwards can start.
    func keepCookies(_ policy: CookiePolicy, of session: SessionID) {
        guard policy != .none else {
            cookies[session] = nil
            return
        }
        if let known = cookies[session] {
            guard known.isPersistent != (policy == .persistent) else { return }
            cookies[session]?.isPersistent = policy == .persistent
            cookies[session]?.stored = []
            cookiesChanged(session)
            return
        }
        // Without memory for a jar there is none for transfers.
        guard let jar = try? CookieJar() else { return }
        cookies[session] = SessionCookies(jar: jar, isPersistent: policy == .persistent)
        jar.onChange = { [weak self] in self?.cookiesChanged(session) }
        guard policy == .persistent else { return }
        storeUntilDone({ (transaction) throws(Failure) in
            try transaction.cookies(of: session)
        }, then: { core, lines in
            core.cookies[session]?.jar.add(lines)
            core.cookies[session]?.stored.formUnion(lines)
        })
    }

    private func cookiesChanged(_ session: SessionID) {
        changedCookies.insert(session)
        guard cookieTimer == nil else { return }
        let timer = loop.timer { [unowned self] in saveCookies() }
        cookieTimer = timer
        timer.start(milliseconds: Self.cookieDelayMilliseconds)
    }

    func saveCookies() {
        cookieTimer = nil
        for session in changedCookies {
            guard let known = cookies[session] else { continue }
            // Also bounds the jar.
            let lines = known.jar.lines()
            guard known.isPersistent else { continue }
            let wanted = Set(lines.filter(CookieLine.outlivesEngine))
            let (added, removed) = (wanted.subtracting(known.stored), known.stored.subtracting(wanted))
            guard !added.isEmpty || !removed.isEmpty else { continue }
            cookies[session]?.stored = wanted
            // Not stored means only that a later engine has to be given them again.
            store({ (transaction) throws(Failure) in
                try transaction.changeCookies(of: session, adding: added, removing: removed)
            }, then: { _, _ in })
        }
        changedCookies = []
    }
}

extension TaskRunner {
    /// Of the task's session; nil when it keeps no cookies.
    var cookieJar: CookieJar? { core.cookies[task.session]?.jar }
}
