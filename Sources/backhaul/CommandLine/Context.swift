import CBackhaul

/// The environment of a command: its store (the directory with all data), its session (a named collection of tasks),
/// its output, and its signals. A *host* is a program that embeds the library. The *engine* is the process that runs
/// the tasks. When a session needs its host, the engine may launch (start) a program that the user has registered.
struct Context {
    static let defaultSession = "default"

    let output: Output
    let signals: Signals
    let applicationName: String
    /// Whether the user gave `--session`. If not, the command uses the default session. But if the engine has launched
    /// the program that runs the command, the command uses the session of this launch. A missing default session is no
    /// error, because that session has no tasks yet.
    let isSessionNamed: Bool
    let isEmbedded: Bool
    private let isHost: Bool
    private let isLaunched: Bool
    private let storeUse: StoreUse
    private let usesSession: Bool
    private let session: SessionName
    /// The store's directory. Nil means the user's default store, which the library chooses.
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
        // The engine may have launched the program that runs this command. In this case, the command acts as a host in
        // place of that program.
        isHost = command.isHost || isLaunched
        storeUse = command.storeUse
        usesSession = command.usesSession
        store = try arguments.value("store").map { path throws(CommandError) in try Paths.absolute(path) }
        daemon = try arguments.value("daemon").map { path throws(CommandError) in try Paths.absolute(path) }
        if isEmbedded && daemon != nil { throw .usage("--embedded and --daemon exclude each other.") }
    }

    var sessionName: String { session.name }

    /// Whether the library makes the missing parents of the store. It makes them only if neither `--store` nor
    /// `$BACKHAUL_STORE` chooses the store.
    var makesParents: Bool { store == nil && environment(Paths.storeVariable) == nil }

    /// The absolute path of the store's directory.
    /// - Parameter making: Whether the default directory is created if it does not exist.
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
            // An interrupted command exits immediately. It does not close the application, because the store does not
            // need this.
            if case .interrupted = error { throw error }
            application.close()
            throw error
        }
    }

    /// Whether the store exists. If the store does not exist, this function writes a note or throws, depending on
    /// `storeUse`.
    private func storeExists() throws(CommandError) -> Bool {
        if storeUse == .makes { return true }
        let path = try storePath(making: false)
        // The library decides whether the path is a store. A directory without a database is not a store.
        if !Paths.isDirectory(path) ? Paths.exists(path) : Paths.exists(Paths.join(path, "backhaul.sqlite3")) {
            return true
        }
        guard storeUse == .lists && !isSessionNamed else {
            throw .stopped(.notFound, "There is no store at \(path).")
        }
        output.note("There is no store at \(path).")
        return false
    }

    /// If the engine has launched the program that runs this command, selects the session for which the engine has
    /// launched the program. Throws if there are several such sessions.
    private func takeSession(ofLaunch application: Application) throws(CommandError) {
        let sessions = try application.sessionsOfLaunch()
        guard sessions.count <= 1 else {
            let names = sessions.map { Text.quoted($0) }.joined(separator: ", ")
            throw .usage("This launch is for more than one session; name one with --session: \(names).")
        }
        if let only = sessions.first { session.name = only }
    }

    /// Opens the session. Returns nil if the session is the default session and does not exist yet.
    func attach(_ application: Application, role: Int) throws(CommandError) -> Session? {
        do {
            return try application.attach(sessionName, role: role)
        } catch {
            guard case .failure(let failure) = error, failure.is(BH_NOT_FOUND), !isSessionNamed else { throw error }
            return nil
        }
    }

    /// The `backhaul wait` command for this session and store, ready to be typed.
    var waitCommand: String { command("wait") }

    /// Another command for the same session and store, ready to be typed.
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

/// The session's name. In a program that the engine has launched, the name is known only after the application has been
/// opened.
private final class SessionName {
    var name: String

    init(_ name: String) { self.name = name }
}
