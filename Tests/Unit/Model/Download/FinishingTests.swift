import BackhaulModel
import Testing

@Suite("A successful download")
struct FinishingTests {
    @Test("A file is sealed, its intent recorded and the file placed, before the task ends")
    func small() {
        var attempt = Attempt()
        attempt.when(.start, .startTransfer(offset: 0, ifRange: nil))
        attempt.when(.head(head(200, "Content-Length: 50", "ETag: \"a\"")))
        attempt.when(.received(count: 50))
        attempt.when(.transferComplete, .releaseSlot, .seal(size: 50))
        attempt.when(.sealed(.sealed), .recordIntent(.sealed))
        attempt.when(.intentRecorded, .place(.sealed))
        attempt.when(.placed, .conclude(.succeeded, nil))
        attempt.when(.concluded, .closePart)
        #expect(attempt.machine.isOver)
    }

    @Test("An empty response makes an empty file")
    func empty() {
        var attempt = Attempt()
        attempt.after(.start, .head(head(200, "Content-Length: 0")))
        attempt.when(.transferComplete, .releaseSlot, .seal(size: 0))
    }

    @Test("Without a length the end of the response is the end of the file")
    func unknownLength() {
        var attempt = Attempt()
        attempt.after(.start, .head(endless), .received(count: 70))
        attempt.when(.transferComplete, .releaseSlot, .seal(size: 70))
        #expect(attempt.machine.size == 70)
    }

    @Test("Bytes are written in chunks, and a checkpoint follows the first sync")
    func pieces() {
        var attempt = Attempt()
        attempt.after(.start, .head(head(200, "Content-Length: 9000", "ETag: \"a\"")))
        attempt.when(.received(count: 99))
        attempt.when(.received(count: 1), .flush)
        attempt.when(.appended(length: 100))
        attempt.when(.tick, .sync)
        attempt.when(.received(count: 100), .flush)
        attempt.when(.appended(length: 200))
        attempt.when(.synced(length: 100), .recordCheckpoint(.kept(100, of: 9_000)))
        #expect(attempt.machine.madeProgress)
    }

    @Test("Many bytes are synced before the next tick, and again after more bytes")
    func syncs() {
        var attempt = Attempt(limits: .wide)
        attempt.after(.start, .head(head(200, "Content-Length: 9000", "ETag: \"a\"")), .received(count: 1_000))
        attempt.when(.appended(length: 1_000), .sync)
        attempt.after(.synced(length: 1_000), .received(count: 3_000))
        attempt.when(.appended(length: 4_000))
        attempt.after(.received(count: 1_000))
        attempt.when(.appended(length: 5_000), .sync)
        attempt.when(.tick)
        attempt.when(.synced(length: 5_000), .recordCheckpoint(.kept(5_000, of: 9_000)))
    }

    @Test("Later syncs are several ticks apart")
    func ticks() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 10), .tick, .synced(length: 10), .received(count: 10))
        attempt.when(.tick, .flush)
        attempt.when(.tick)
        attempt.when(.tick, .sync)
    }

    @Test("Without a validator there are fewer syncs and no checkpoint")
    func noValidator() {
        var attempt = Attempt(limits: .wide)
        attempt.after(.start, .head(head(200, "Content-Length: 90000")), .received(count: 3_000))
        attempt.when(.appended(length: 3_000))
        attempt.when(.tick)
        attempt.after(.received(count: 1_000))
        attempt.when(.appended(length: 4_000), .sync)
        attempt.when(.synced(length: 4_000))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("The transfer pauses while the disk is behind, and resumes when half of the bytes are written")
    func backPressure() {
        var attempt = Attempt()
        attempt.after(.start, .head(endless), .received(count: 400))
        #expect(attempt.machine.wantsBytes)
        attempt.when(.received(count: 1), .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.when(.appended(length: 200))
        attempt.when(.appended(length: 201), .resumeTransfer)
        #expect(attempt.machine.wantsBytes)
        attempt.when(.appended(length: 401))
    }

    @Test("The transfer resumes also when the bytes that paused it did not fill the buffer")
    func backPressureBelowFlush() {
        var attempt = Attempt()
        attempt.after(.start, .head(endless), .received(count: 100), .received(count: 100), .received(count: 100))
        attempt.when(.received(count: 99))
        attempt.when(.received(count: 2), .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.when(.appended(length: 401), .resumeTransfer)
    }

    @Test("A buffer smaller than a flush does not block a transfer")
    func smallBuffer() {
        var limits = DownloadMachine.BufferLimits.small
        limits.outstanding = 10
        var attempt = Attempt(limits: limits)
        attempt.after(.start, .head(endless))
        attempt.when(.received(count: 11), .flush)
        #expect(!attempt.machine.wantsBytes)
        attempt.when(.appended(length: 11), .resumeTransfer)
    }
}
