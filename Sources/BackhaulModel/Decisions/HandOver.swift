/// What happens when a library and an engine of different versions meet.
public enum HandOver {
    public enum Action: Equatable, Sendable {
        case speak
        /// The engine is an older daemon: it is asked to leave, and the library starts its own.
        case askToLeave
        case refuse(Failure)
    }

    /// The client's side.
    /// - mayAsk: it has a daemon to start, and has not asked too often: what it starts may be older than itself.
    public static func action(own: Versions, engine: Welcome, mayAsk: Bool) -> Action {
        if leaves(engine, askedBy: own), mayAsk { return .askToLeave }
        return own.wire == engine.versions.wire ? .speak : .refuse(failure(own: own, engine: engine))
    }

    /// The engine's side: only a daemon, and only for a newer library. Two that took turns would do nothing else.
    public static func leaves(_ engine: Welcome, askedBy library: Versions) -> Bool {
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
