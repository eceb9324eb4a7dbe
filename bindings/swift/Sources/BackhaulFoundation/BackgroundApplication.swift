public import Backhaul
internal import Foundation

/// This delegate is called when a session needs attention and has no object in the program. A session needs attention
/// when all its tasks have ended, or when a server demands a credential. The protocol corresponds to the part of
/// Apple's UIApplicationDelegate for background sessions.
@MainActor
public protocol BackgroundApplicationDelegate: AnyObject, Sendable {
    /// Called when all tasks of a session have ended, or when a server demands a credential.
    ///
    /// Make the session object with this identifier, and store the handler. After
    /// `urlSessionDidFinishEvents(forBackgroundURLSession:)`, process all events, and then call the handler. If the
    /// library's engine has launched the program, this method is called once for each session of the launch. In any
    /// other program, this method is called for each session that needs attention and has no object in the program. The
    /// method is called on the main thread.
    ///
    /// - Parameters:
    ///   - application: The application of this process.
    ///   - identifier: The identifier of the session.
    ///   - completionHandler: The handler may be called on any thread. Only the first call has an effect. In a program
    ///     that was launched for the session, this call makes the session object invalid. The program can then make a
    ///     new object immediately.
    func application(
        _ application: BackgroundApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @Sendable () -> Void)
}

/// The application of this program. It corresponds to the part of Apple's UIApplication for background sessions.
public final class BackgroundApplication: Sendable {
    /// The program's identity, and where its transfers run.
    public struct Options: Sendable {
        /// The application's identifier: 1 to 255 bytes of letters, digits, '.', '-' and '_'. Sessions of two
        /// applications may have the same identifier. Default: the name of the executable file.
        public var identifier: String
        /// The absolute path of the store, a directory with all durable data. Nil: the user's default store.
        public var store: String?
        /// Where a new engine runs. The *engine* performs the transfers. Nil: the engine runs in the daemon, a separate
        /// process.
        public var hosting: Hosting?
        /// The absolute path of the daemon's program, backhauld. Nil: the library searches for the program.
        public var daemon: String?
        /// The command that launches the program. Default: the program's executable file, without arguments.
        public var launch: LaunchCommand

        /// Makes options with their default values.
        public init() {
            let program = Options.executable
            identifier = Options.name(of: program)
            launch = LaunchCommand(program: program)
        }

        /// The path of the executable file. It is read from the kernel, because the name on the command line may be
        /// relative to another directory.
        private static var executable: String {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
                ?? CommandLine.arguments.first ?? ""
        }

        private static func name(of program: String) -> String {
            let name = String(
                (program.split(separator: "/").last ?? "").map { character in
                    character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character))
                        ? character : "-"
                }.prefix(255))
            return name.first.map { $0.isLetter || $0.isNumber } == true ? name : "program"
        }
    }

    private struct Inner {
        var options = Options()
        /// The sessions for which the application's delegate was called, and which are not completed yet. The program
        /// completes a session by a call of the session's completion handler.
        var called: Set<String> = []
        /// The sessions in `called` whose delegate call has returned. After this return, the program has the completion
        /// handler.
        var owing: Set<String> = []
        var whenIdle: [CheckedContinuation<Void, Never>] = []
        var isListening = false
    }

    /// The application of this process.
    public static let shared = BackgroundApplication()

    private let inner = Locked(Inner())
    /// The open application. Nil before the first use. The mutex is locked while the application is being opened.
    private let application = Locked<BlockingApplication?>(nil)

    private init() {}

    /// The delegate that was passed to `handleLaunch`.
    @MainActor public private(set) var delegate: (any BackgroundApplicationDelegate)?

    /// The options that `configure` has set, or the default values.
    public var options: Options { inner.with { $0.options } }

    /// Sets the options of the whole process. Call this method before any other method of this package.
    ///
    /// - Throws: `BackhaulError` with `.wrongState` if the application is already open.
    public func configure(_ options: Options) throws {
        try application.with { application in
            if application != nil {
                throw BackhaulError(
                    .wrongState, message: "The application is open already; configure it before its first session.")
            }
            inner.with { $0.options = options }
        }
    }

    /// Registers the launch command and the delegate. From then on, the delegate is called for each session that needs
    /// attention. Call this method at the start of `main`.
    ///
    /// In a launched program, the method waits until all sessions of the launch are completed, and then returns true.
    /// The program should then exit, because its work is done. During the wait, the method runs the main run loop, so
    /// calls on the main queue are performed. In a program that was not launched, the method returns false immediately.
    ///
    /// - Throws: `BackhaulError` if the application cannot be opened.
    @MainActor
    public func handleLaunch(delegate: any BackgroundApplicationDelegate) throws -> Bool {
        self.delegate = delegate
        try begin()
        guard BackgroundApplication.isLaunched else { return false }
        while hasCalls { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) }
        return true
    }

    /// Does the same as the synchronous `handleLaunch(delegate:)`, for an async `main`.
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

    /// Whether the engine launched this program.
    public static var isLaunched: Bool { ProcessInfo.processInfo.environment["BACKHAUL_LAUNCH"] != nil }

    private var hasCalls: Bool { inner.with { !$0.called.isEmpty } }

    // MARK: Internal

    /// Returns the application. The first call opens it.
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

    /// Whether the delegate was called for this session, and the session is not completed yet.
    func isCalled(for identifier: String) -> Bool { inner.with { $0.called.contains(identifier) } }

    /// Whether the program has the completion handler of this session, and has not called it yet.
    func isOwing(_ identifier: String) -> Bool { inner.with { $0.owing.contains(identifier) } }

    private func begin() throws {
        let application = try opened()
        try application.run(.setLaunch(options.launch))
        if BackgroundApplication.isLaunched {
            for session in try application.run(.currentLaunch)?.sessions ?? [] {
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

    /// Waits for sessions that need attention. If the program has no object for such a session, this method calls the
    /// delegate.
    private func listen(_ application: BlockingApplication) {
        while true {
            do throws(BackhaulError) {
                for session in try application.poll(timeout: 3_600_000)
                where session.identifier != ActivityHost.session && (session.hasFinished || session.hasChallenge) {
                    if SessionCore.delivering(session.identifier) == nil { call(for: session.identifier) }
                }
            } catch {
                if error.status == .invalidHandle || error.status == .forked { return }
                // A later poll may succeed, perhaps with another engine.
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
                // If the program has already made the session object, this job informs the object that the program has
                // the handler.
                SessionCore.delivering(identifier)?.post { $0.oweFinish() }
            }
        }
    }

    private func complete(_ identifier: String) {
        if let core = SessionCore.delivering(identifier), core.post({ $0.completeSoon() }) { return }
        // The delegate has made no session object, so no event (stored message) was delivered. The events stay in the
        // store until a later start of the program.
        DispatchQueue.global().async {
            if let application = try? self.opened(),
                let session = try? application.attachSession(identifier, role: .consume)
            {
                try? session.run(.complete)
                session.close()
            }
            self.isCompleted(identifier)
        }
    }

    /// Marks the session as completed. A session whose completion failed is also marked, because a launched program can
    /// do nothing more for it.
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
