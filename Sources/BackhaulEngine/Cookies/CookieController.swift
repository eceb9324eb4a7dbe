internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// The cookies of all sessions. The cookies of one session are in its *jar*. For each jar, this object knows which
/// cookies are in the store.
///
/// Each engine has one object of this type. Many servers set the same cookie with each response. So the changes of half
/// a second are saved together, and a crash may lose them.
final class CookieController {
    private static let delayMilliseconds: Int64 = 500
    /// After so many new cookies, a jar is reduced to its limits without a delay. If servers set many more in half a
    /// second, one call of libcurl would take long.
    private static let newCookieLimit = 1_000

    private let runtime: any Runtime
    private var jars: [SessionID: SessionJar] = [:]
    /// Sessions whose cookies changed since the last save.
    private var changed: Set<SessionID> = []
    private var timer: (any RuntimeTimer)?

    private struct SessionJar {
        let jar: CookieJar
        var isPersistent: Bool
        var stored: Set<String> = []
    }

    init(_ runtime: any Runtime) { self.runtime = runtime }

    /// The jar of the session; nil if the session stores no cookies.
    func jar(of session: SessionID) -> CookieJar? { jars[session]?.jar }

    /// Makes the jar for the session's cookie policy. If a task is read from the store after this call, the stored
    /// cookies are in the jar before the task starts.
    func configure(_ policy: CookiePolicy, of session: SessionID) {
        guard policy != .none else { return forget(session) }
        let isPersistent = policy == .persistent
        if let known = jars[session] {
            guard known.isPersistent != isPersistent else { return }
            jars[session]?.isPersistent = isPersistent
            jars[session]?.stored = []
            return noteChange(of: session)
        }
        // Without memory for a jar, transfers fail as well, so this failure is not reported.
        guard let jar = try? CookieJar() else { return }
        jars[session] = SessionJar(jar: jar, isPersistent: isPersistent)
        jar.onChange = { [weak self] in self?.noteChange(of: session) }
        if isPersistent { load(session) }
    }

    func forget(_ session: SessionID) { jars[session] = nil }

    private func load(_ session: SessionID) {
        runtime.storeWithRetry(
            { (transaction) throws(Failure) in
                try transaction.cookies.all(of: session)
            },
            then: { [unowned self] lines in
                jars[session]?.jar.add(lines)
                jars[session]?.stored.formUnion(lines)
                return []
            })
    }

    private func noteChange(of session: SessionID) {
        changed.insert(session)
        let timer =
            timer
            ?? runtime.timer { [unowned self] in
                save()
                return []
            }
        self.timer = timer
        if !timer.isRunning { timer.start(milliseconds: Self.delayMilliseconds) }
        guard let jar = jars[session]?.jar, jar.newCookies >= Self.newCookieLimit else { return }
        // libcurl stores the last of the cookies after this call.
        runtime.afterThisIteration {
            if jar.newCookies >= Self.newCookieLimit { jar.lines() }
            return []
        }
    }

    /// Saves the cookies that changed.
    func save() {
        timer?.stop()
        let sessions = changed
        changed = []
        for session in sessions.sorted() { save(session) }
    }

    private func save(_ session: SessionID) {
        guard let known = jars[session] else { return }
        // This call also removes cookies beyond the jar's limits.
        let lines = known.jar.lines()
        guard known.isPersistent else { return }
        let wanted = Set(lines.filter(CookieLine.outlivesEngine))
        let (added, removed) = (wanted.subtracting(known.stored), known.stored.subtracting(wanted))
        guard !added.isEmpty || !removed.isEmpty else { return }
        jars[session]?.stored = wanted
        // If a cookie cannot be stored, its server sets it again when the next engine sends a request.
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.cookies.change(of: session, adding: added, removing: removed)
            }, then: { _ in [] })
    }

    func close() { timer?.stop() }
}
