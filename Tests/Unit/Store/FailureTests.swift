import BackhaulModel
import CSQLite
import Glibc
import Testing

@testable import BackhaulStore

// SQLite's extended result codes are macros with arithmetic, which Swift does not import
// (https://www.sqlite.org/rescode.html).
private let readError = SQLITE_IOERR | 1 << 8
private let writeError = SQLITE_IOERR | 3 << 8
private let syncError = SQLITE_IOERR | 4 << 8
private let directorySyncError = SQLITE_IOERR | 5 << 8
private let checksumError = SQLITE_IOERR | 32 << 8
private let foreignKeyError = SQLITE_CONSTRAINT | 3 << 8

@Suite("Failures of SQLite")
struct FailureTests {
    @Test(
        "each failure of SQLite becomes a status of the API",
        arguments: [
            (SQLITE_FULL, 0, .storeFull), (writeError, EDQUOT, .storeFull), (writeError, EIO, .engineFailed),
            (syncError, EIO, .engineFailed), (SQLITE_CORRUPT, 0, .storeDamaged), (SQLITE_NOTADB, 0, .storeDamaged),
            (checksumError, 0, .storeDamaged), (checksumError, ENOSPC, .storeDamaged),
            (SQLITE_READONLY, 0, .storeReadOnly), (SQLITE_CANTOPEN, 0, .storeUnavailable),
            (SQLITE_BUSY, 0, .storeUnavailable), (SQLITE_NOMEM, 0, .outOfResources), (SQLITE_ERROR, 0, .internal),
            (foreignKeyError, 0, .internal),
        ] as [(Int32, Int32, Status)])
    func statuses(code: Int32, systemCode: Int32, status: Status) {
        let failure = Connection.failure(code, reason: "because", systemCode: systemCode)
        #expect(failure.status == status)
        #expect(failure.domain == .sqlite)
        #expect(failure.detail == Int64(code))
        #expect(!failure.message.isEmpty)
    }

    @Test("a failure of SQLite ends the use of the store if the data in memory and on disk may differ")
    func ending() {
        func failure(_ code: Int32, _ systemCode: Int32 = 0) -> Failure {
            Connection.failure(code, reason: "", systemCode: systemCode)
        }
        for code in [syncError, directorySyncError, readError, checksumError, SQLITE_CORRUPT, SQLITE_NOTADB] {
            #expect(failure(code).endsStore)
        }
        for code in [SQLITE_FULL, SQLITE_NOMEM, SQLITE_BUSY, SQLITE_CONSTRAINT, SQLITE_READONLY] {
            #expect(!failure(code).endsStore)
        }
        #expect(!failure(writeError, ENOSPC).endsStore)
    }
}
