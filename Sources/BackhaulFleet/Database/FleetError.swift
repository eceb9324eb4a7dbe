public import BackhaulModel

/// An error of the fleet's database, or a refusal of a command.
public struct FleetError: Error, Equatable, Sendable {
    public var failure: Failure
    /// The SQLSTATE of PostgreSQL (appendix A of its manual); empty if the server did not report an error.
    public var sqlState = ""
    /// The name of the violated constraint; empty if there is none.
    public var constraint = ""

    public init(_ status: Status, _ message: String) { failure = Failure(status, message) }

    public init(_ failure: Failure) { self.failure = failure }

    /// Evaluates `body`, and throws its failure as an error of a fleet.
    static func wrapping<Result>(_ body: @autoclosure () throws(Failure) -> Result) throws(FleetError) -> Result {
        do throws(Failure) { return try body() } catch { throw FleetError(error) }
    }

    /// The error that PostgreSQL reported.
    public init(sqlState: String, message: String, constraint: String) {
        self.sqlState = sqlState
        self.constraint = constraint
        failure = Failure(Self.status(of: sqlState), Self.text(sqlState, message))
    }

    /// The status code of the failure, and its message.
    public var status: Int32 { failure.status.rawValue }
    public var message: String { failure.message }

    /// Whether the transaction can succeed if it is repeated: it lost a conflict with another transaction.
    public var isConflict: Bool { sqlState == "40001" || sqlState == "40P01" }

    /// Whether a new connection is needed: the server ended this one, does not accept connections now, or was read-only
    /// when this one was made.
    public var isConnectionEnd: Bool {
        sqlState.hasPrefix("08") || sqlState.hasPrefix("57P") || ["53300", "25006"].contains(sqlState)
    }

    private static let undefinedObjects: Set<String> = ["3F000", "42P01", "42703", "42883"]

    private static func status(of sqlState: String) -> Status {
        switch sqlState {
        case "53100": .storeFull
        case "53200": .outOfResources
        case "25006": .storeReadOnly
        case _ where undefinedObjects.contains(sqlState): .storeUnavailable
        default:
            switch sqlState.prefix(2) {
            case "08", "28", "3D", "42", "53", "57", "58": .storeUnavailable
            case "XX": .storeDamaged
            default: .internal
            }
        }
    }

    private static func text(_ sqlState: String, _ message: String) -> String {
        if undefinedObjects.contains(sqlState) {
            return "the database has no fleet of this version (\(message)); run `backhaul fleet init`"
        }
        if sqlState == "42501" {
            return "the role of the database has no right to do this (\(message)); use the owner of the fleet's "
                + "tables, or let the owner give the rights of a host or a worker with `backhaul fleet grant`"
        }
        return "PostgreSQL refused a statement with SQLSTATE \(sqlState): \(message)"
    }
}
