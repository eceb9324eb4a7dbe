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
    private let store: String?

    init(_ arguments: Arguments, signals: Signals) throws(CommandError) {
        output = Output(isJSON: arguments.has("json"), isQuiet: arguments.has("quiet"))
        self.signals = signals
        applicationName = arguments.value("application") ?? "backhaul"
        sessionName = arguments.value("session") ?? Context.defaultSession
        isSessionNamed = arguments.has("session")
        store = try arguments.value("store").map { path throws(CommandError) in try Paths.absolute(path) }
    }

    /// The store's directory, absolute.
    /// - Parameter making: Makes the default one.
    func storePath(making: Bool = true) throws(CommandError) -> String {
        if let store { store } else { try Paths.defaultStore(making: making) }
    }

    func withApplication<Result>(
        _ body: (Application) throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        let store = try storePath()
        let application = try Application(identifier: applicationName, store: store, signals: signals)
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
    var waitCommand: String {
        var words = ["backhaul", "wait"]
        if let store { words += ["--store", store] }
        if applicationName != "backhaul" { words += ["--application", applicationName] }
        if isSessionNamed { words += ["--session", sessionName] }
        return words.map(Context.quoted).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+=:@,".contains($0) }
        if isPlain { return word }
        var result = "'"
        for character in word { result += character == "'" ? "'\\''" : String(character) }
        return result + "'"
    }
}
