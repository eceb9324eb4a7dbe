public import Backhaul
internal import Foundation

/// Is told when sessions of the program have messages for it and the program has not made them yet:
/// UIApplicationDelegate, as far as it is about background sessions.
@MainActor
public protocol BackgroundApplicationDelegate: AnyObject, Sendable {
    /// The tasks of a session have ended, or a server asks for a credential. Make the session of this identifier, keep
    /// the handler, and call it when `urlSessionDidFinishEvents(forBackgroundURLSession:)` tells that all was
    /// delivered: the call says that nothing is outstanding. Called on the main thread, in a program that was launched
    /// for it once for each session, and in one that runs and has not made the session.
    ///
    /// - Parameter completionHandler: May be called on any thread, once; more calls have no effect. A program that was
    ///   launched for the session cannot use that session object any more; a new one works at once.
    func application(
        _ application: BackgroundApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @Sendable () -> Void)
}

/// The program as the engine knows it: UIApplication, as far as it is about background sessions.
public final class BackgroundApplication: Sendable {
    /// Who the program is and where its transfers run.
    public struct Options: Sendable {
        /// Session identifiers belong to it: 1 to 255 bytes of letters, digits, '.', '-' and '_'. By default the name
        /// of the executable file.
        public var identifier: String
        /// Absolute path; nil: the user's default store.
        public var store: String?
        /// Nil: the daemon.
        public var hosting: Hosting?
        /// Absolute path of backhauld; nil: where the library looks for it.
        public var daemon: String?
        /// How the program is launched: by default its executable file, without arguments.
        public var launch: LaunchCommand

        public init() {
            let program = Options.executable
            identifier = Options.name(of: program)
            launch = LaunchCommand(program: program)
        }

        /// As the kernel knows it; a name from the command line may be relative to another directory.
        private static var executable: String {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
                ?? CommandLine.arguments.first ?? ""
        }

        private static func name(of program: String) -> String {
            let name = String((program.split(separator: "/").last ?? "").map { character in
                character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character))
                    ? character : "-"
            }.prefix(255))
            return name.first.map { $0.isLetter || $0.isNumber } == true ? name : "program"
        }
    }

    private struct Inner {
        var options = Options()
        /// Sessions whose delegate was called and which are not completed yet.
        var called: Set<String> = []
        /// Those of them for which the delegate has its handler: its call has returned.
        var owing: Set<String> = []
        var whenIdle: [CheckedContinuation<Void, Never>] = []
        var isListening = false
    }

    public static let shared = BackgroundApplication()

    private let inner = Locked(Inner())
    /// Held while the application is being opened.
    private let application = Locked<BlockingApplication?>(nil)

    private init() {}

    /// Who was given to `handleLaunch`.
    @MainActor public private(set) var delegate: (any BackgroundApplicationDelegate)?

    public var options: Options { inner.with { $0.options } }

    /// To be called before anything else of this package: what it is given holds for the whole process.
    ///
    /// - Throws: `BackhaulError` with `.wrongState` when the application is open already.
    public func configure(_ options: Options) throws {
        try application.with { application in
            if application != nil {
                throw BackhaulError(
                    .wrongState, message: "The application is open already; configure it before its first session.")
            }
            inner.with { $0.options = options }
        }
    }

    /// To be called at the start of `main`. Registers how the program is launched, and calls the delegate for the
    /// sessions that wait for it, now and later.
    ///
    /// In a program that was launched for its sessions this returns, with true, when all of them are completed: the
    /// program has done what it was started for and should leave. Otherwise it returns false at once. Messages that
    /// come on the main queue are delivered meanwhile.
    ///
    /// - Throws: `BackhaulError` when the application cannot be opened.
    @MainActor
    public func handleLaunch(delegate: any BackgroundApplicationDelegate) throws -> Bool {
        self.delegate = delegate
        try begin()
        guard BackgroundApplication.isLaunched else { return false }
        while hasCalls { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) }
        return true
    }

    /// The same, for a `main` that is async.
    @MainActor
    public func handleLaunch(delegate: any BackgroundApplicationDelegate) async throws -> Bool {
        self.delegate = delegate
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async { continuation.resume(with: Result { try self.begin() }) }
        }
        guard BackgroundApplication.isLaunched else { return false }
        await withCheckedContinuation { continuation in
            let isIdle = inner.with { inner in
                if inner.called.isEmpty { return true }
                inner.whenIdle.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
        return true
    }

    /// Whether the program was started by the engine and not by its user.
    public static var isLaunched: Bool { ProcessInfo.processInfo.environment["BACKHAUL_LAUNCH"] != nil }

    private var hasCalls: Bool { inner.with { !$0.called.isEmpty } }

    // MARK: Within

    /// The engine's application, opened with the first use.
    func opened() throws(BackhaulError) -> BlockingApplication {
        let result: Result<BlockingApplication, BackhaulError> = application.with { application in
            if let application { return .success(application) }
            do throws(BackhaulError) {
                let options = self.options
                var values = ApplicationOptions(identifier: options.identifier)
                values.store = options.store
                values.hosting = options.hosting
                values.daemon = options.daemon
                let opened = try BlockingApplication(values)
                application = opened
                return .success(opened)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Whether the delegate was called for this session and has not completed it.
    func isCalled(for identifier: String) -> Bool { inner.with { $0.called.contains(identifier) } }

    /// Whether the delegate has the completion handler of this session and did not call it yet.
    func isOwing(_ identifier: String) -> Bool { inner.with { $0.owing.contains(identifier) } }

    private func begin() throws {
        let application = try opened()
        try application.setLaunch(options.launch)
        if BackgroundApplication.isLaunched {
            for session in try application.currentLaunch()?.sessions ?? [] {
                if session.identifier == ActivityHost.session {
                    inner.with { _ = $0.called.insert(session.identifier) }
                    ActivityHost.shared.begin(isLaunched: true)
                } else {
                    call(for: session.identifier)
                }
            }
        }
        let isFirst = inner.with { inner in
            defer { inner.isListening = true }
            return !inner.isListening
        }
        guard isFirst else { return }
        let thread = Thread { self.listen(application) }
        thread.name = "backhaul-sessions"
        thread.start()
    }

    /// Hears of sessions that need the program and that it has not made.
    private func listen(_ application: BlockingApplication) {
        while true {
            do throws(BackhaulError) {
                for session in try application.poll(timeout: 3_600_000)
                where session.identifier != ActivityHost.session && (session.hasFinished || session.hasChallenge) {
                    if SessionCore.delivering(session.identifier) == nil { call(for: session.identifier) }
                }
            } catch {
                if error.status == .invalidHandle || error.status == .forked { return }
                // The engine, or another one, may tell later.
                Thread.sleep(forTimeInterval: 1)
            }
        }
    }

    private func call(for identifier: String) {
        guard inner.with({ $0.called.insert(identifier).inserted }) else { return }
        let isOpen = Locked(true)
        let handler: @Sendable () -> Void = {
            let isFirst = isOpen.with { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            if isFirst { self.complete(identifier) }
        }
        DispatchQueue.main.async {
            MainActor.assumeIsolated {
                guard let delegate = self.delegate else { return handler() }
                delegate.application(
                    self, handleEventsForBackgroundURLSession: identifier, completionHandler: handler)
                self.inner.with { if $0.called.contains(identifier) { $0.owing.insert(identifier) } }
                // Of a session that was made before.
                SessionCore.delivering(identifier)?.post { $0.oweFinish() }
            }
        }
    }

    private func complete(_ identifier: String) {
        if let core = SessionCore.delivering(identifier), core.post({ $0.completeSoon() }) { return }
        // The delegate has made no session: nothing was handed out, and its events stay for a program that wants them.
        DispatchQueue.global().async {
            if let application = try? self.opened(),
                let session = try? application.attachSession(identifier, role: .consume)
            {
                try? session.complete()
                session.close()
            }
            self.isCompleted(identifier)
        }
    }

    /// Also when it could not be: a program that was launched for it has no more to do.
    func isCompleted(_ identifier: String) {
        let waiting = inner.with { inner in
            inner.called.remove(identifier)
            inner.owing.remove(identifier)
            guard inner.called.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            defer { inner.whenIdle = [] }
            return inner.whenIdle
        }
        for continuation in waiting { continuation.resume() }
    }
}
