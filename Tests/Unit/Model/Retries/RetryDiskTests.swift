import BackhaulModel
import Testing

private let full = Failure(.diskFull, "ENOSPC")
private let away = Failure(.storageAway, "the drive is away")
private let refusal = RetryDecision.end

@Suite("The decision to retry after a failure of the disk")
struct RetryDiskTests {
    @Test(
        "If the disk is full, the task waits, and its limit of attempts does not apply to this failure",
        arguments: [
            RetryRow("by default", full, becomes: .whenSpaceIsFree(recheckMilliseconds: 5_000)) {
                $0.reason = .diskFull
            },
            RetryRow("at the last attempt", full, becomes: .whenSpaceIsFree(recheckMilliseconds: 5_000)) {
                $0.reason = .diskFull
                $0.consecutiveFailures = 2
            } policy: {
                $0.maximumAttempts = 1
            },
            RetryRow("near its resource timeout", full, becomes: .whenSpaceIsFree(recheckMilliseconds: 70)) {
                $0.reason = .diskFull
                $0.remainingMilliseconds = 70
            },
        ])
    func disks(_ row: RetryRow) { row.check() }

    @Test(
        "If the storage is away, the task waits for it until the end of the resource time-out",
        arguments: [
            RetryRow("by default", away, becomes: .whenStorageReturns(recheckMilliseconds: 30_000)) {
                $0.reason = .storage
            },
            RetryRow("near its resource timeout", away, becomes: .whenStorageReturns(recheckMilliseconds: 70)) {
                $0.reason = .storage
                $0.remainingMilliseconds = 70
            },
            RetryRow("after its resource timeout", away, becomes: .end) {
                $0.reason = .storage
                $0.remainingMilliseconds = 0
            },
        ])
    func storage(_ row: RetryRow) { row.check() }

    @Test(
        "A POST is not sent again after a failure of the disk, except if no server has acted on it",
        arguments: [
            RetryRow("the disk is full after the request", full, becomes: refusal) { $0.reason = .diskFull },
            RetryRow("the storage is away after the request", away, becomes: refusal) { $0.reason = .storage },
            RetryRow("the disk is full before it", full, becomes: .whenSpaceIsFree(recheckMilliseconds: 5_000)) {
                $0.reason = .diskFull
                $0.isUnprocessed = true
            },
            RetryRow(
                "a complete file cannot get its name", away, becomes: .whenStorageReturns(recheckMilliseconds: 30_000)
            ) {
                $0.reason = .storage
                $0.hasCompleteFile = true
            },
        ])
    func unsafeMethods(_ row: RetryRow) {
        var row = row
        row.attempt.method = "POST"
        row.check()
    }
}
