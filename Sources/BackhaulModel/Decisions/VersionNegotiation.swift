/// Decides what happens when a library connects to an engine of another version. The engine runs the downloads and
/// uploads. A daemon is an engine in its own process.
public enum VersionNegotiation {
    public enum Action: Equatable, Sendable {
        case proceed
        /// The engine is an older daemon. The library requests that this daemon exits, and then starts another daemon.
        case requestExit
        case refuse(Failure)
    }

    /// The action of the client (the library in a process) after the engine's welcome, its first message.
    /// - mayRequestExit: whether the client has found the program of a daemon, and has not requested an exit too often.
    /// The found program may be older than the client, too. Then each new daemon would be too old again, so the number
    /// of requests is limited.
    public static func action(own: Versions, engine: Welcome, mayRequestExit: Bool) -> Action {
        if mustExit(engine, requestedBy: own), mayRequestExit { return .requestExit }
        return own.wire == engine.versions.wire ? .proceed : .refuse(failure(own: own, engine: engine))
    }

    /// Whether the engine must exit because this library requests it. Only a daemon exits, and only for a newer
    /// library. Otherwise, the daemons of two versions could replace each other for ever.
    public static func mustExit(_ engine: Welcome, requestedBy library: Versions) -> Bool {
        engine.isDaemon && library.library > engine.versions.library
    }

    private static func failure(own: Versions, engine: Welcome) -> Failure {
        let remedy: String
        if own.library < engine.versions.library {
            remedy = "update this program"
        } else if engine.isDaemon {
            remedy = "let it find a daemon of its own version"
        } else {
            remedy = "update the program that is process \(engine.process), or end it"
        }
        return Failure(
            .engineIncompatible,
            "the store's engine, process \(engine.process), is version \(engine.versions.libraryText) with protocol "
                + "\(engine.versions.wire), and this program has version \(own.libraryText) with protocol "
                + "\(own.wire); \(remedy)", domain: .process, detail: Int64(engine.process))
    }
}
