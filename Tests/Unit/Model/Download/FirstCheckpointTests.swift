import BackhaulModel
import Testing

@Suite("The first checkpoint of a download, which limits the bytes that a crash loses")
struct FirstCheckpointTests {
    static var limits: DownloadMachine.BufferLimits {
        var limits = DownloadMachine.BufferLimits.small
        limits.firstCheckpoint = 100
        limits.unrecorded = 300
        return limits
    }

    static let large = head(200, "Content-Length: 9000", "ETag: \"a\"")

    @Test("The validators of a large file are recorded when its first bytes are written, before a sync")
    func firstCheckpoint() {
        var attempt = DownloadScript(limits: Self.limits)
        attempt.after(.start, .head(Self.large))
        attempt.expect(.received(count: 100), .flush)
        attempt.expect(.appended(length: 100), .recordCheckpoint(.kept(0, of: 9_000)))
        attempt.after(.received(count: 100))
        attempt.expect(.appended(length: 200))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("If bytes of a slow small file stay in memory for long, they are written, and then a checkpoint is recorded")
    func aged() {
        var limits = Self.limits
        limits.aged = 50
        limits.firstCheckpoint = 50
        var attempt = DownloadScript(limits: limits)
        attempt.after(.start, .head(head(200, "Content-Length: 900", "ETag: \"a\"")), .received(count: 49))
        #expect(!attempt.machine.mustFlushSoon)
        attempt.expect(.received(count: 1))
        #expect(attempt.machine.mustFlushSoon)
        attempt.expect(.aged, .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.appended(length: 50), .recordCheckpoint(.kept(0, of: 900)))
        attempt.expect(.aged)
        attempt.expect(.checkpointRecorded, .resumeTransfer)
    }

    @Test("Until the validators are recorded, only a limited number of bytes is received")
    func backPressure() {
        var attempt = DownloadScript(limits: Self.limits)
        attempt.after(.start, .head(Self.large), .received(count: 100), .appended(length: 100))
        attempt.expect(.received(count: 200), .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.appended(length: 300))
        attempt.expect(.checkpointRecorded, .resumeTransfer)
        #expect(attempt.machine.wantsBytes)
        attempt.after(.received(count: 100))
        attempt.expect(.appended(length: 400))
    }

    @Test("If a slow small file has many unrecorded bytes, the transfer pauses until a checkpoint is recorded")
    func slowTooLate() {
        var attempt = DownloadScript(limits: Self.limits)
        attempt.after(.start, .head(head(200, "Content-Length: 900", "ETag: \"a\"")), .received(count: 350))
        attempt.after(.appended(length: 350), .received(count: 50))
        #expect(attempt.machine.wantsBytes)
        attempt.expect(.aged, .flush, .recordCheckpoint(.kept(0, of: 900)))
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.appended(length: 400))
        attempt.expect(.checkpointRecorded, .resumeTransfer)
    }

    @Test("If a small file turns out to be slow when all its bytes are written, a checkpoint is recorded at once")
    func slowWithoutBuffer() {
        var attempt = DownloadScript(limits: Self.limits)
        attempt.after(.start, .head(head(200, "Content-Length: 900", "ETag: \"a\"")), .received(count: 350))
        attempt.after(.appended(length: 350))
        attempt.expect(.aged, .recordCheckpoint(.kept(0, of: 900)))
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.checkpointRecorded, .resumeTransfer)
        #expect(attempt.machine.wantsBytes)
    }

    @Test("If the first sync is already in progress, the checkpoint of that sync records the validators")
    func syncedFirst() {
        var attempt = DownloadScript(limits: Self.limits)
        attempt.after(.start, .head(Self.large), .received(count: 90))
        attempt.expect(.tick, .flush, .sync)
        attempt.after(.received(count: 210))
        attempt.expect(.appended(length: 300))
        attempt.expect(.synced(length: 90), .recordCheckpoint(.kept(90, of: 9_000)))
        attempt.expect(.checkpointRecorded, .resumeTransfer)
    }

    @Test(
        "Small files, files without a validator and resumed files need no first checkpoint",
        arguments: [
            (Checkpoint?.none, head(200, "Content-Length: 1000", "ETag: \"a\"")),
            (nil, head(200, "Content-Length: 9000")),
            (.kept(500, of: 9_000), head(206, "Content-Range: bytes 500-8999/9000", "ETag: \"a\"")),
        ])
    func none(_ kept: Checkpoint?, _ head: ResponseHead) {
        var attempt = DownloadScript(from: kept, limits: Self.limits)
        attempt.after(.start, .opened(length: 500), .head(head))
        attempt.expect(.received(count: 400), .flush)
        attempt.expect(.appended(length: attempt.machine.offset))
        #expect(attempt.machine.wantsBytes)
    }

    @Test("The validators of a changed file are recorded after its first bytes are written")
    func changedFile() {
        var attempt = DownloadScript(from: .kept(500), limits: Self.limits)
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(head(200, "Content-Length: 9000", "ETag: \"b\"")), .forgetCheckpoint)
        attempt.expect(.forgotten, .restartPart, .resumeTransfer)
        attempt.expect(.received(count: 100), .flush)
        attempt.expect(.appended(length: 100), .recordCheckpoint(.kept(0, of: 9_000, tag: "\"b\"")))
    }

    @Test("If the first sync fails, the checkpoint has the length 0")
    func failedSync() {
        var attempt = DownloadScript(limits: Self.limits)
        attempt.after(
            .start, .head(Self.large), .received(count: 100), .appended(length: 100), .checkpointRecorded, .tick)
        attempt.expect(
            .diskFailed(.broken), .stopTransfer, .releaseSlot, .openPart(isSameBoot: false, syncedOffset: 0),
            .conclude(.again(.broken), .kept(0, of: 9_000, boot: "")))
    }
}
