import CBackhaul

/// What every command is given: where to look, how to write, when to leave.
struct Context {
    static let defaultSession = "default"

    let output: Output
    let signals: Signals
    let applicationName: String
    /// False: nobody named the session, so that its absence means that there is nothing yet.
    let isSessionNamed: Bool
    let isEmbedded: Bool
    private let isHost: Bool
    private let isLaunched: Bool
    private let storeUse: StoreUse
    private let usesSession: Bool
    private let session: SessionName
    /// Nil: the user's default store, which the library knows.
    private let store: String?
    private let daemon: String?

    init(
        _ arguments: Arguments, _ command: CommandDescription, signals: Signals
    ) throws(CommandError) {
        output = Output(isJSON: arguments.has("json"), isQuiet: arguments.has("quiet"))
        self.signals = signals
        isLaunched = environment("BACKHAUL_LAUNCH") != nil
        let launched = isLaunched ? environment("BACKHAUL_APPLICATION") : nil
        applicationName = arguments.value("application") ?? launched ?? "backhaul"
        session = SessionName(arguments.value("session") ?? Context.defaultSession)
        isSessionNamed = arguments.has("session")
        isEmbedded = arguments.has("embedded")
        // Whatever a launched program runs belongs to it.
        isHost = command.isHost || isLaunched
        storeUse = command.storeUse
        usesSession = command.usesSession
        store = try arguments.value("store").map { path throws(CommandError) in try Paths.absolute(path) }
        daemon = try arguments.value("daemon").map { path throws(CommandError) in try Paths.absolute(path) }
        if isEmbedded && daemon != nil { throw .usage("--embedded needs no --daemon.") }
    }

    var sessionName: String { session.name }

    /// The store's directory, absolute.
    /// - Parameter making: Makes the default one.
    func storePath(making: Bool = true) throws(CommandError) -> String {
        if let store { store } else { try Paths.defaultStore(making: making) }
    }

    func withApplication(
        _ body: (Application) throws(CommandError) -> ExitCode
    ) throws(CommandError) -> ExitCode {
        guard try storeExists() else { return .done }
        let application = try Application(
            identifier: applicationName, store: store, isEmbedded: isEmbedded, daemon: daemon, observes: !isHost,
            signals: signals)
        do {
            if isLaunched && usesSession && !isSessionNamed { try takeSession(ofLaunch: application) }
            let result = try body(application)
            application.close()
            return result
        } catch {
            // Whoever interrupts wants to be gone at once, and the store does not need a farewell.
            if case .interrupted = error { throw error }
            application.close()
            throw error
        }
    }

    /// Whether there is something to open. False: there is not, and that has been told.
    private func storeExists() throws(CommandError) -> Bool {
        if storeUse == .makes { return true }
        let path = try storePath(making: false)
        // What is a store is the library's to judge; a directory without a database is none.
        if !Paths.isDirectory(path) ? Paths.exists(path) : Paths.exists(Paths.join(path, "backhaul.sqlite3")) {
            return true
        }
        guard storeUse == .lists && !isSessionNamed else {
            throw .stopped(.notFound, "There is no store at \(path).")
        }
        output.note("There is no store at \(path).")
        return false
    }

    /// In a launched program the session is the launch's, when it has one only.
    private func takeSession(ofLaunch application: Application) throws(CommandError) {
        let sessions = try application.sessionsOfLaunch()
        guard sessions.count <= 1 else {
            let names = sessions.map { Text.quoted($0) }.joined(separator: ", ")
            throw .usage("This launch is for more than one session; name one with --session: \(names).")
        }
        if let only = sessions.first { session.name = only }
    }

    /// Nil when the default session has not been made yet.
    func attach(_ application: Application, role: Int) throws(CommandError) -> Session? {
        do {
            return try application.attach(sessionName, role: role)
        } catch {
            guard case .failure(let failure) = error, failure.is(BH_NOT_FOUND), !isSessionNamed else { throw error }
            return nil
        }
    }

    /// The command that goes on with what is left, as it can be typed.
    var waitCommand: String { command("wait") }

    /// Another command on the same session, as it can be typed.
    func command(_ name: String, _ operands: String...) -> String {
        command(words: [name] + operands)
    }

    func command(words given: [String]) -> String {
        var words = ["backhaul"] + given
        if isEmbedded { words.append("--embedded") }
        if let daemon { words += ["--daemon", daemon] }
        if let store { words += ["--store", store] }
        guard given.first.flatMap(Commands.named)?.description.usesSession != false else {
            return words.map(Text.quoted).joined(separator: " ")
        }
        if applicationName != "backhaul" { words += ["--application", applicationName] }
        if isSessionNamed || sessionName != Context.defaultSession { words += ["--session", sessionName] }
        return words.map(Text.quoted).joined(separator: " ")
    }
}

/// The session's name, which in a launched program is known when the application is open.
private final class SessionName {
    var name: String

    init(_ name: String) { self.name = name }
}
