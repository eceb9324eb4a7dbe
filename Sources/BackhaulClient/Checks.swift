internal import BackhaulDisk
internal import BackhaulStore
internal import BackhaulEngine
public import BackhaulModel

/// Checks requests before the host sends them to the engine, which stores them as tasks. Each call that sends requests
/// makes a value of this type.
public struct RequestIntake {
    private var intake = BackhaulEngine.RequestIntake()

    public init() {}

    /// Checks the URL, the headers, the idempotency key (which marks repeated requests) and the sizes.
    public mutating func check(_ request: Request) throws(Failure) { _ = try intake.check(request) }
}

/// Checks the files of a request's body in the host's file system.
public enum BodyChecker {
    public static func check(path: String, orAbsent: Bool = false) throws(Failure) -> BodyFile {
        try BodyCheck.check(path: path, orAbsent: orAbsent)
    }
}

/// The default path of the store.
public enum DefaultStorePath {
    /// Returns the path, and creates its parent directories. Throws `storeUnavailable`.
    public static func find() throws(Failure) -> String { try DefaultStore.path() }
}

/// Checks destinations in the host's file system. It caches the directories that it has checked.
public struct DestinationChecker {
    private var check = DestinationCheck()

    public init() {}

    public mutating func check(path: String, ifExists: ExistsPolicy) throws(Failure) -> Destination {
        try check.check(path: path, ifExists: ifExists)
    }

    /// Checks the directory in which a download is placed under a name that the server chooses.
    public mutating func check(directory: String) throws(Failure) -> Destination {
        try check.check(directory: directory)
    }
}
