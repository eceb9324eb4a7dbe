import BackhaulModel
import Testing

/// A *tick* is an event that comes once a second.
@Suite("A successful download")
struct DownloadCompletionTests {
    @Test("Before the task ends, the file is sealed, its finish intent is recorded, and the file is placed")
    func small() {
        var attempt = DownloadScript()
        attempt.expect(.start, .startTransfer(offset: 0, ifRange: nil))
        attempt.expect(.head(head(200, "Content-Length: 50", "ETag: \"a\"")))
        attempt.expect(.received(count: 50))
        attempt.expect(.transferComplete, .releaseSlot, .seal(size: 50))
        attempt.expect(.sealed(.sealed), .recordIntent(.sealed))
        attempt.expect(.intentRecorded, .place(.sealed))
        attempt.expect(.placed, .conclude(.succeeded, nil))
        attempt.expect(.concluded, .closePart)
        #expect(attempt.machine.isOver)
    }

    @Test("If the response is empty, the download makes an empty file")
    func empty() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(head(200, "Content-Length: 0")))
        attempt.expect(.transferComplete, .releaseSlot, .seal(size: 0))
    }

    @Test("If a response states no length, the file ends where the response ends")
    func unknownLength() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(endless), .received(count: 70))
        attempt.expect(.transferComplete, .releaseSlot, .seal(size: 70))
        #expect(attempt.machine.size == 70)
    }

    @Test("Received bytes are written in chunks, and a checkpoint is recorded after the first sync")
    func pieces() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(head(200, "Content-Length: 9000", "ETag: \"a\"")))
        attempt.expect(.received(count: 99))
        attempt.expect(.received(count: 1), .flush)
        attempt.expect(.appended(length: 100))
        attempt.expect(.tick, .sync)
        attempt.expect(.received(count: 100), .flush)
        attempt.expect(.appended(length: 200))
        attempt.expect(.synced(length: 100), .recordCheckpoint(.kept(100, of: 9_000)))
        #expect(attempt.machine.madeProgress)
    }

    @Test("When many bytes have been written, they are synced without waiting for the next tick")
    func syncs() {
        var attempt = DownloadScript(limits: .wide)
        attempt.after(.start, .head(head(200, "Content-Length: 9000", "ETag: \"a\"")), .received(count: 1_000))
        attempt.expect(.appended(length: 1_000), .sync)
        attempt.after(.synced(length: 1_000), .received(count: 3_000))
        attempt.expect(.appended(length: 4_000))
        attempt.after(.received(count: 1_000))
        attempt.expect(.appended(length: 5_000), .sync)
        attempt.expect(.tick)
        attempt.expect(.synced(length: 5_000), .recordCheckpoint(.kept(5_000, of: 9_000)))
    }

    @Test("Syncs after the first sync are several ticks apart")
    func ticks() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 10), .tick, .synced(length: 10), .received(count: 10))
        attempt.expect(.tick, .flush)
        attempt.expect(.tick)
        attempt.expect(.tick, .sync)
    }

    @Test("A download without a validator has fewer syncs and no checkpoint")
    func noValidator() {
        var attempt = DownloadScript(limits: .wide)
        attempt.after(.start, .head(head(200, "Content-Length: 90000")), .received(count: 3_000))
        attempt.expect(.appended(length: 3_000))
        attempt.expect(.tick)
        attempt.after(.received(count: 1_000))
        attempt.expect(.appended(length: 4_000), .sync)
        attempt.expect(.synced(length: 4_000))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("The transfer pauses while too many bytes wait for the disk, and resumes when half of them are written")
    func backPressure() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(endless), .received(count: 400))
        #expect(attempt.machine.wantsBytes)
        attempt.expect(.received(count: 1), .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.appended(length: 200))
        attempt.expect(.appended(length: 201), .resumeTransfer)
        #expect(attempt.machine.wantsBytes)
        attempt.expect(.appended(length: 401))
    }

    @Test("If a transfer pauses because of a small received chunk, it resumes when all received bytes are written")
    func backPressureBelowFlush() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(endless), .received(count: 100), .received(count: 100), .received(count: 100))
        attempt.expect(.received(count: 99))
        attempt.expect(.received(count: 2), .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.appended(length: 401), .resumeTransfer)
    }

    @Test("If the limit of unwritten bytes is smaller than one write, the transfer still resumes after the write")
    func smallBuffer() {
        var limits = DownloadMachine.BufferLimits.small
        limits.outstanding = 10
        var attempt = DownloadScript(limits: limits)
        attempt.after(.start, .head(endless))
        attempt.expect(.received(count: 11), .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.appended(length: 11), .resumeTransfer)
    }
}
