public import BackhaulModel
internal import CSQLite
internal import Glibc

extension Connection {
    /// Returns the failure for a result code of SQLite (https://www.sqlite.org/rescode.html).
    static func failure(_ code: Int32, reason: String, systemCode: Int32) -> Failure {
        let (status, message) = meaning(code, reason: reason, systemCode: systemCode)
        return Failure(status, message, domain: .sqlite, detail: Int64(code))
    }

    private static func meaning(_ code: Int32, reason: String, systemCode: Int32) -> (Status, String) {
        switch code & 0xFF {
        case SQLITE_IOERR where code == CheckedFile.failure: return (.storeDamaged, Failure.damaged(reason).message)
        case SQLITE_FULL: return full
        // SQLite reports an exceeded disk quota as an I/O error.
        case SQLITE_IOERR where systemCode == EDQUOT || systemCode == ENOSPC: return full
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return (.storeDamaged, Failure.damaged(reason).message)
        // SQLite makes a sum of integers that is too large a REAL. The library stores no values that are so large.
        case SQLITE_CONSTRAINT where code == datatypeViolation: return (.storeDamaged, Failure.damaged(reason).message)
        case SQLITE_READONLY, SQLITE_PERM:
            return (.storeReadOnly, "the store's database cannot be written (\(reason)); make it writable")
        case SQLITE_CANTOPEN where systemCode == EMFILE || systemCode == ENFILE:
            return (
                .outOfResources,
                "the store's database cannot be opened: too many open files; raise their limit (ulimit -n)"
            )
        case SQLITE_CANTOPEN:
            return (.storeUnavailable, "the store's database cannot be opened (\(reason)); check its permissions")
        case SQLITE_BUSY, SQLITE_LOCKED:
            return (.storeUnavailable, "another program has the store's database open; close it there and try again")
        case SQLITE_NOMEM: return (.outOfResources, "there is no memory left for the store's database")
        case SQLITE_IOERR:
            return (.engineFailed, "the disk failed under the store's database (\(reason)); read the system's log")
        default:
            return (.internal, "the store's database refused a statement (\(reason)); please report it")
        }
    }

    /// SQLITE_CONSTRAINT_DATATYPE. Swift does not import this macro.
    private static let datatypeViolation = SQLITE_CONSTRAINT | 12 << 8
    private static let full = (
        Status.storeFull, "the store's file system is full; free some space, and then retry"
    )
}

extension Failure {
    /// Returns the failure for a damaged database. Its message says what the user can do.
    static func damaged(_ reason: String) -> Failure {
        Failure(
            .storeDamaged,
            "the store's database is damaged (\(reason)); put back a copy, let `backhaul doctor --repair` save what "
                + "can be read, or move the store's directory away to begin an empty one")
    }

    /// Whether the store refuses all work after this failure, and its engine must end. True if the connection's memory
    /// may differ from the data on the disk. For example, if a sync fails, a second sync may report success although
    /// the data is lost. If a file of the database was removed, the data that was written to this file is lost, too.
    /// After any other failure, such as a full disk, the next transaction may succeed.
    public var endsStore: Bool {
        switch status {
        case .storeDamaged, .engineFailed: true
        case .storeUnavailable: domain != .sqlite
        default: false
        }
    }
}
