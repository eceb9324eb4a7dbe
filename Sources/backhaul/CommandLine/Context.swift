import Backhaul

/// The environment of a command: its store, its session, its output, and its signals. When a session needs its host,
/// the engine may launch a program that the user has registered.
struct Context {
    static let defaultSession = "default"

    let output: Output
    let signals: Signals
    private(set) var applicationName: String
    /// Whether the command line or a launch names the application. If not, commands that show all transfers show those
    /// of all applications.
    let isApplicationNamed: Bool
    /// Whether `--session` is on the command line. If not, the command uses the default session, or the session of the
    /// configuration file. But if the engine has launched the program that runs the command, the command uses the
    /// session of this launch. A missing default session is no error, because that session has no tasks yet.
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
        _ arguments: Arguments, _ command: CommandDescription, output: Output, signals: Signals
    ) throws(CommandError) {
        self.output = output
        self.signals = signals
        isLaunched = environment("BACKHAUL_LAUNCH") != nil
        let launched = isLaunched ? environment("BACKHAUL_APPLICATION") : nil
        applicationName = arguments.value("application") ?? launched ?? "backhaul"
        isApplicationNamed = arguments.isTyped("application") || launched != nil
        session = SessionName(arguments.value("session") ?? Context.defaultSession)
        isSessionNamed = arguments.isTyped("session")
        isEmbedded = arguments.has("embedded")
        // The engine may have launched the program that runs this command. In this case, the command acts as a host in
        // place of that program.
        isHost = command.isHost || isLaunched
        storeUse = command.storeUse
        usesSession = command.usesSession
        store = try arguments.value("store").map { path throws(CommandError) in
            Paths.isAddress(path) ? path : try Paths.absolute(path)
        }
        if store == nil { try Paths.checkStoreVariable() }
        daemon = try arguments.value("daemon").map { path throws(CommandError) in try Paths.absolute(path) }
        if isEmbedded && daemon != nil { throw .usage("--embedded and --daemon exclude each other") }
    }

    var sessionName: String { session.name }

    /// The name of the session without the options of this command.
    var baseName: String { session.base }

    /// Whether the library makes the missing parents of the store. It makes them only if neither `--store` nor
    /// `$BACKHAUL_STORE` chooses the store.
    var makesParents: Bool { store == nil && environment(Paths.storeVariable) == nil }

    /// The absolute path of the store's directory.
    /// - Parameter making: Whether the default directory is created if it does not exist.
    func storePath(making: Bool = true) throws(CommandError) -> String {
        if let store { store } else { try Paths.defaultStore(making: making) }
    }

    /// The absolute path of the store, for a command that needs a store on this machine.
    func storeDirectory(making: Bool = true) throws(CommandError) -> String {
        let path = try storePath(making: making)
        guard !Paths.isAddress(path) else {
            throw .usage(
                "this command is for a store on this machine, and \(path) is a queue in PostgreSQL, which "
                    + "`backhaul fleet status` shows")
        }
        return path
    }

    func withApplication(
        _ body: (Application) throws(CommandError) -> ExitCode
    ) throws(CommandError) -> ExitCode {
        guard try storeExists() else { return .done }
        var options = ApplicationOptions(identifier: applicationName)
        options.store = store
        options.hosting = isEmbedded ? .embedded : .daemon
        options.daemon = daemon
        options.observes = !isHost
        let application = try Application(options, signals: signals)
        do {
            if isLaunched && usesSession && !isSessionNamed { try takeSession(ofLaunch: application) }
            let result = try body(application)
            application.close()
            return result
        } catch {
            // An interrupted command exits immediately. It does not close the application, because the store does not
            // need this.
            if case .interrupted = error { application.leaveOpen() } else { application.close() }
            throw error
        }
    }

    /// Calls `body` with the named application. Without a name, calls it with each application of the store, sorted by
    /// identifier.
    func forEachApplication(
        _ application: Application, _ body: (Application) throws(CommandError) -> Void
    ) throws(CommandError) {
        if isApplicationNamed { return try body(application) }
        for info in try application.run(.applications) {
            try body(try application.other(info.identifier))
            application.closeOther(info.identifier)
        }
    }

    /// Whether the store exists. If the store does not exist, this function writes a note or throws, depending on
    /// `storeUse`.
    private func storeExists() throws(CommandError) -> Bool {
        if storeUse == .makes { return true }
        let path = try storePath(making: false)
        if Paths.isAddress(path) { return true }
        // The library decides whether the path is a store. A directory without a database is not a store.
        if !Paths.isDirectory(path) ? Paths.exists(path) : Paths.exists(Paths.join(path, "backhaul.sqlite3")) {
            return true
        }
        guard storeUse == .lists && !isSessionNamed else {
            throw .stopped(.notFound, "there is no store at \(path)")
        }
        output.note("There is no store at \(path).")
        return false
    }

    /// If the engine has launched the program that runs this command, selects the session for which the engine has
    /// launched the program. Throws if there are several such sessions.
    private func takeSession(ofLaunch application: Application) throws(CommandError) {
        let sessions = try application.run(.currentLaunch)?.sessions.map(\.identifier) ?? []
        guard sessions.count <= 1 else {
            let names = sessions.map { Text.quoted($0) }.joined(separator: ", ")
            throw .usage("this launch is for more than one session; name one with --session: \(names)")
        }
        if let only = sessions.first { session.begin(only) }
    }

    /// Opens the session. Returns nil if the session is the default session and does not exist yet.
    func attach(_ application: Application, role: Role) throws(CommandError) -> Session? {
        do {
            return try application.attach(sessionName, role: role)
        } catch {
            // A variant may have been removed after it was listed.
            guard error.status == .notFound, !isSessionNamed || sessionName != session.base else { throw error }
            return nil
        }
    }

    /// The settings of the session for the transfers of this command. If an option can only be a setting of a session,
    /// the command uses a variant of the session from now on.
    func settings(_ options: SettingOptions) -> SessionSettings {
        guard options.isGiven else { return SessionSettings(identifier: sessionName) }
        let base = session.base
        session.name = SessionVariant.name(of: base, options.given)
        let names = options.names.joined(separator: ", ")
        let verb = options.given.count == 1 ? "applies" : "apply"
        output.note(
            "\(names) \(verb) only to the transfers of this command. They run in session \(sessionName), "
                + "a variant of session \(base).")
        return SessionSettings(identifier: sessionName, base: base, options: options)
    }

    /// Calls `body` with the session of the command and with each of its variants (`SessionVariant`). During the call,
    /// `sessionName` is the name of that session. A default session that does not exist is left out.
    func forEachSession(
        _ application: Application, role: Role, _ body: (Session) throws(CommandError) -> Void
    ) throws(CommandError) {
        for name in try sessionNames(application) {
            try withSession(name) { () throws(CommandError) in
                if let session = try attach(application, role: role) { try body(session) }
            }
        }
    }

    /// The names of the session of the command and of its variants.
    func sessionNames(_ application: Application) throws(CommandError) -> [String] {
        let variants = try application.run(.sessions).map(\.identifier)
            .filter { SessionVariant.isVariant($0, of: session.base) }
        return [session.base] + variants.sorted()
    }

    /// The same environment for another application of the store.
    func of(_ application: Application) -> Context {
        var context = self
        context.applicationName = application.identifier
        return context
    }

    /// Calls `body` while `sessionName` is this name.
    func withSession(_ name: String, _ body: () throws(CommandError) -> Void) throws(CommandError) {
        let former = session.name
        defer { session.name = former }
        session.name = name
        try body()
    }

    /// Opens the session of the command or the variant of it for which the condition is true. If there is none, opens
    /// the session of the command. From now on, `sessionName` is the name of the opened session.
    func attach(
        _ application: Application, role: Role, where condition: (Session) throws(CommandError) -> Bool
    ) throws(CommandError) -> Session {
        var found: String?
        try forEachSession(application, role: .observe) { (session) throws(CommandError) in
            if found == nil, try condition(session) { found = sessionName }
        }
        session.name = found ?? session.base
        return try application.attach(sessionName, role: role)
    }

    /// Opens the session of the command or the variant of it that lists the task, or has it in its history.
    func attach(_ application: Application, role: Role, task: TaskID) throws(CommandError) -> Session {
        try attach(application, role: role) { (session) throws(CommandError) in
            if try !session.tasks(.ids(task), maximum: 1).isEmpty { return true }
            return try session.taskInHistory(task) != nil
        }
    }

    /// The `backhaul wait` command for this session and store, ready to be typed.
    var waitCommand: String { command("wait") }

    /// Another command for the same session and store, ready to be typed.
    func command(_ name: String, _ operands: String...) -> String {
        command(words: [name] + operands)
    }

    /// - Parameter application: The application of the session. Nil means the application of this command.
    func command(words given: [String], application: String? = nil) -> String {
        var words = ["backhaul"] + given
        if isEmbedded { words.append("--embedded") }
        if let daemon { words += ["--daemon", daemon] }
        if let store { words += ["--store", store] }
        guard given.first.flatMap(Commands.named)?.description.usesSession != false else {
            return words.map(Text.quoted).joined(separator: " ")
        }
        let application = application ?? applicationName
        if application != "backhaul" { words += ["--application", application] }
        if isSessionNamed || sessionName != Context.defaultSession { words += ["--session", sessionName] }
        return words.map(Text.quoted).joined(separator: " ")
    }
}

/// The name of the session that the command uses at this moment. In a program that the engine has launched, the name is
/// known only after the application has been opened.
private final class SessionName {
    /// The session that the user or the launch names.
    private(set) var base: String
    /// The base, or a variant of it.
    var name: String

    init(_ name: String) {
        base = name
        self.name = name
    }

    func begin(_ name: String) {
        base = name
        self.name = name
    }
}
