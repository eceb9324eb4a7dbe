import BackhaulModel
import Testing

@Suite("Bytes that a kill may cost")
struct SeamTests {
    static var limits: DownloadMachine.BufferLimits {
        var limits = DownloadMachine.BufferLimits.small
        limits.firstCheckpoint = 100
        limits.unrecorded = 300
        return limits
    }

    static let large = head(200, "Content-Length: 9000", "ETag: \"a\"")

    @Test("The validators are recorded with the first bytes in the file, before a sync")
    func firstCheckpoint() {
        var attempt = Attempt(limits: Self.limits)
        attempt.after(.start, .head(Self.large))
        attempt.when(.received(count: 100), .flush)
        attempt.when(.appended(length: 100), .recordCheckpoint(.kept(0, of: 9_000)))
        attempt.after(.received(count: 100))
        attempt.when(.appended(length: 200))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("Old buffered bytes are written, and a slow small file gets its checkpoint")
    func aged() {
        var limits = Self.limits
        limits.aged = 50
        limits.firstCheckpoint = 50
        var attempt = Attempt(limits: limits)
        attempt.after(.start, .head(head(200, "Content-Length: 900", "ETag: \"a\"")), .received(count: 49))
        #expect(!attempt.machine.mustFlushSoon)
        attempt.when(.received(count: 1))
        #expect(attempt.machine.mustFlushSoon)
        attempt.when(.aged, .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.when(.appended(length: 50), .recordCheckpoint(.kept(0, of: 900)))
        attempt.when(.aged)
        attempt.when(.checkpointRecorded, .resumeTransfer)
    }

    @Test("A limited number of bytes is taken until the validators are recorded")
    func backPressure() {
        var attempt = Attempt(limits: Self.limits)
        attempt.after(.start, .head(Self.large), .received(count: 100), .appended(length: 100))
        attempt.when(.received(count: 200), .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.when(.appended(length: 300))
        attempt.when(.checkpointRecorded, .resumeTransfer)
        #expect(attempt.machine.wantsBytes)
        attempt.after(.received(count: 100))
        attempt.when(.appended(length: 400))
    }

    @Test("A slow small file with many unrecorded bytes pauses until its checkpoint is recorded")
    func slowTooLate() {
        var attempt = Attempt(limits: Self.limits)
        attempt.after(.start, .head(head(200, "Content-Length: 900", "ETag: \"a\"")), .received(count: 350))
        attempt.after(.appended(length: 350), .received(count: 50))
        #expect(attempt.machine.wantsBytes)
        attempt.when(.aged, .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.when(.appended(length: 400), .recordCheckpoint(.kept(0, of: 900)))
        attempt.when(.checkpointRecorded, .resumeTransfer)
    }

    @Test("A sync in progress records the checkpoint")
    func syncedFirst() {
        var attempt = Attempt(limits: Self.limits)
        attempt.after(.start, .head(Self.large), .received(count: 90))
        attempt.when(.tick, .flush, .sync)
        attempt.after(.received(count: 210))
        attempt.when(.appended(length: 300))
        attempt.when(.synced(length: 90), .recordCheckpoint(.kept(90, of: 9_000)))
        attempt.when(.checkpointRecorded, .resumeTransfer)
    }

    @Test("Small files, files without a validator and resumed files need no first checkpoint", arguments: [
        (Checkpoint?.none, head(200, "Content-Length: 1000", "ETag: \"a\"")),
        (nil, head(200, "Content-Length: 9000")),
        (.kept(500, of: 9_000), head(206, "Content-Range: bytes 500-8999/9000", "ETag: \"a\"")),
    ])
    func none(_ kept: Checkpoint?, _ head: ResponseHead) {
        var attempt = Attempt(from: kept, limits: Self.limits)
        attempt.after(.start, .opened(length: 500), .head(head))
        attempt.when(.received(count: 400), .flush)
        attempt.when(.appended(length: attempt.machine.offset))
        #expect(attempt.machine.wantsBytes)
    }

    @Test("The validators of another file are recorded after its first bytes are written")
    func changedFile() {
        var attempt = Attempt(from: .kept(500), limits: Self.limits)
        attempt.after(.start, .opened(length: 500))
        attempt.when(.head(head(200, "Content-Length: 9000", "ETag: \"b\"")), .forgetCheckpoint)
        attempt.when(.forgotten, .restartPart, .resumeTransfer)
        attempt.when(.received(count: 100), .flush)
        attempt.when(.appended(length: 100), .recordCheckpoint(.kept(0, of: 9_000, tag: "\"b\"")))
    }

    @Test("After a failed first sync the checkpoint has no bytes")
    func failedSync() {
        var attempt = Attempt(limits: Self.limits)
        attempt.after(
            .start, .head(Self.large), .received(count: 100), .appended(length: 100), .checkpointRecorded, .tick)
        attempt.when(
            .diskFailed(.broken), .stopTransfer, .releaseSlot, .openPart(isSameBoot: false, syncedOffset: 0),
            .conclude(.again(.broken), .kept(0, of: 9_000, boot: "")))
    }
}
