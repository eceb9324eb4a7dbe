internal import BackhaulDisk
internal import BackhaulStore
internal import BackhaulEngine
public import BackhaulModel

/// Checks requests for a host before anything is sent. A value of its own for each enqueue.
public struct RequestIntake {
    private var intake = BackhaulEngine.RequestIntake()

    public init() {}

    /// URL, headers, key and sizes.
    public mutating func check(_ request: Request) throws(Failure) { _ = try intake.check(request) }
}

/// Looks at the files of a request's body as the host sees them.
public enum BodyChecker {
    public static func check(path: String, orAbsent: Bool = false) throws(Failure) -> BodyFile {
        try BodyCheck.check(path: path, orAbsent: orAbsent)
    }
}

/// Where the store is when the host names none.
public enum DefaultStorePath {
    /// Makes its parents. Throws storeUnavailable.
    public static func find() throws(Failure) -> String { try DefaultStore.path() }
}

/// Checks destinations as the host sees them. Remembers the directories that it has looked at.
public struct DestinationChecker {
    private var check = DestinationCheck()

    public init() {}

    public mutating func check(path: String, ifExists: ExistsPolicy) throws(Failure) -> Destination {
        try check.check(path: path, ifExists: ifExists)
    }

    /// Of a file that the server names.
    public mutating func check(directory: String) throws(Failure) -> Destination {
        try check.check(directory: directory)
    }
}
