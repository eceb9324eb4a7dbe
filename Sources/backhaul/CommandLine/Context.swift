import CBackhaul

/// What every command is given: where to look, how to write, when to leave.
struct Context {
    static let defaultSession = "default"

    let output: Output
    let signals: Signals
    let applicationName: String
    let sessionName: String
    /// False: nobody named the session, so that its absence means that there is nothing yet.
    let isSessionNamed: Bool
    let isEmbedded: Bool
    private let isHost: Bool
    /// Nil: the user's default store, which the library knows.
    private let store: String?
    private let daemon: String?

    init(
        _ arguments: Arguments, _ command: CommandDescription, signals: Signals
    ) throws(CommandError) {
        output = Output(isJSON: arguments.has("json"), isQuiet: arguments.has("quiet"))
        self.signals = signals
        applicationName = arguments.value("application") ?? "backhaul"
        sessionName = arguments.value("session") ?? Context.defaultSession
        isSessionNamed = arguments.has("session")
        isEmbedded = arguments.has("embedded")
        // Whatever a launched program runs belongs to it.
        isHost = command.isHost || environment("BACKHAUL_LAUNCH") != nil
        store = try arguments.value("store").map { path throws(CommandError) in try Paths.absolute(path) }
        daemon = try arguments.value("daemon").map { path throws(CommandError) in try Paths.absolute(path) }
        if isEmbedded && daemon != nil { throw .usage("--embedded needs no --daemon.") }
    }

    /// The store's directory, absolute.
    /// - Parameter making: Makes the default one.
    func storePath(making: Bool = true) throws(CommandError) -> String {
        if let store { store } else { try Paths.defaultStore(making: making) }
    }

    func withApplication<Result>(
        _ body: (Application) throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        let application = try Application(
            identifier: applicationName, store: store, isEmbedded: isEmbedded, daemon: daemon, observes: !isHost,
            signals: signals)
        do {
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
        var words = ["backhaul", name] + operands
        if isEmbedded { words.append("--embedded") }
        if let daemon { words += ["--daemon", daemon] }
        if let store { words += ["--store", store] }
        if applicationName != "backhaul" { words += ["--application", applicationName] }
        if isSessionNamed { words += ["--session", sessionName] }
        return words.map(Text.quoted).joined(separator: " ")
    }
}
