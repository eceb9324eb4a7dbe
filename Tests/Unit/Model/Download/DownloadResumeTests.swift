import BackhaulModel
import Testing

/// The kernel's *boot id* changes at each boot.
@Suite("A resumed download")
struct DownloadResumeTests {
    @Test("Without a reboot, a download resumes after the last written byte")
    func sameBoot() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.expect(.start, .openPart(isSameBoot: true, syncedOffset: 400))
        attempt.expect(.opened(length: 500), .startTransfer(offset: 500, ifRange: "\"a\""))
        attempt.expect(.head(rest))
        attempt.expect(.received(count: 500), .flush)
        attempt.expect(.transferComplete, .releaseSlot, .seal(size: 1_000))
    }

    @Test("After a reboot, a download resumes after the last synced byte", arguments: ["old", ""])
    func otherBoot(_ boot: String) {
        var attempt = DownloadScript(from: .kept(500, boot: boot))
        attempt.expect(.start, .openPart(isSameBoot: false, syncedOffset: 500))
        attempt.expect(.opened(length: 500), .startTransfer(offset: 500, ifRange: "\"a\""))
    }

    @Test("If a response has the recorded ETag but another length, the task starts again and keeps the recorded ETag")
    func contradiction() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(
            .head(head(200, "Content-Length: 0", "ETag: \"a\"")), .stopTransfer, .releaseSlot, .discardPart)
        guard case .conclude(.retry(_, _, _, fromZero: true), let metadataOnly)? = attempt.handle(.discarded).first
        else {
            Issue.record("the download is not retried")
            return
        }
        #expect(metadataOnly == .kept(0, boot: ""))
    }

    @Test("A checkpoint of length 0 is removed after the request for the whole file and before the first write")
    func metadataOnly() {
        var attempt = DownloadScript(from: .kept(0, boot: ""))
        attempt.expect(.start, .openPart(isSameBoot: false, syncedOffset: 0))
        attempt.expect(.opened(length: 0), .startTransfer(offset: 0, ifRange: nil))
        attempt.expect(.head(head(200, "Content-Length: 1000", "ETag: \"a\"")), .forgetCheckpoint)
        attempt.expect(.forgotten, .restartPart, .resumeTransfer)
    }

    @Test("If the server refuses the range, the attempt requests the whole file, and keeps its bytes until it comes")
    func refusedRange() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(head(403)), .stopTransfer, .startTransfer(offset: 0, ifRange: nil))
        attempt.expect(.head(whole), .forgetCheckpoint)
        attempt.expect(.forgotten, .restartPart, .resumeTransfer)
    }

    @Test("If the server refuses the range and then the whole file, the status counts")
    func refusedFile() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500), .head(head(404)), .head(head(404)))
        attempt.expect(.transferComplete, .releaseSlot, .discardPart)
        attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500), .head(head(500)), .head(head(500)))
        attempt.expect(
            .transferComplete, .releaseSlot,
            .conclude(
                .again(Failure(.httpStatus, "the server responded with status 500", domain: .http, detail: 500)),
                .kept(400)))
    }

    @Test("Until a resumed download has opened its part file, its progress is the checkpoint's")
    func progress() {
        var attempt = DownloadScript(from: .kept(400))
        #expect(attempt.machine.progress == (400, 1_000))
        attempt.after(.start)
        #expect(attempt.machine.progress == (400, 1_000))
        attempt.after(.opened(length: 500))
        #expect(attempt.machine.progress == (500, 1_000))
    }

    @Test("A download that stops before it has opened its part file keeps its progress")
    func progressOfStopped() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .stop)
        #expect(attempt.machine.progress == (400, 1_000))
    }

    @Test("If the part file is useless, the progress starts again at 0, and has the size of the next response")
    func progressOfRestarted() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 0), .forgotten)
        #expect(attempt.machine.progress == (0, nil))
        attempt.after(.head(head(200, "Content-Length: 2000", "ETag: \"b\"")))
        #expect(attempt.machine.progress == (0, 2_000))
    }

    @Test("If the boot id is unknown, only synced bytes are trusted")
    func unknownBoot() {
        var attempt = DownloadScript(from: .kept(500, boot: ""), boot: "")
        attempt.expect(.start, .openPart(isSameBoot: false, syncedOffset: 500))
    }

    @Test("A download without an ETag resumes with Last-Modified")
    func byDate() {
        var attempt = DownloadScript(from: .kept(500, tag: nil, date: monday))
        attempt.after(.start)
        attempt.expect(.opened(length: 500), .startTransfer(offset: 500, ifRange: monday))
    }

    @Test("If a part file is already complete, it is sealed without a request")
    func wholeAlready() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start)
        attempt.expect(.opened(length: 1_000), .releaseSlot, .seal(size: 1_000))
    }

    @Test("A 416 response with the length of the part file means that the part file is complete")
    func unsatisfiable() {
        var attempt = DownloadScript(from: .kept(400, of: nil))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(
            .head(head(416, "Content-Range: bytes */500")), .stopTransfer, .releaseSlot, .seal(size: 500))
    }

    @Test(
        "A download starts again if its part file has an unexpected length, or its checkpoint has no validator",
        arguments: [
            // The part file is missing, shorter than its synced length, or longer than the whole file.
            (Checkpoint.kept(400), 0), (.kept(400), 399), (.kept(400), 1_001), (.kept(400, of: nil), 399),
            // The part file is longer than its synced length after a reboot, or its length is impossible.
            (.kept(400, boot: "old"), 401), (.kept(400, boot: "old"), 1_000), (.kept(400), UInt64.max),
            // The checkpoint has no validator with which to resume.
            (.kept(400, tag: nil), 400),
        ] as [(Checkpoint, UInt64)])
    func strangePart(_ checkpoint: Checkpoint, _ length: UInt64) {
        var attempt = DownloadScript(from: checkpoint)
        attempt.after(.start)
        attempt.expect(.opened(length: length), .forgetCheckpoint)
        attempt.expect(.forgotten, .restartPart, .startTransfer(offset: 0, ifRange: nil))
        attempt.after(.head(whole), .received(count: 1_000))
        attempt.expect(.transferComplete, .releaseSlot, .seal(size: 1_000))
    }

    @Test("Bytes of a changed file are written only after the old checkpoint has been removed from the database")
    func changedFile() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(wholeOther), .forgetCheckpoint)
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.forgotten, .restartPart, .resumeTransfer)
        attempt.expect(.received(count: 700), .flush)
        attempt.expect(.tick, .sync)
        attempt.expect(.synced(length: 700), .recordCheckpoint(.kept(700, of: 800, tag: "\"b\"")))
    }

    @Test("If bytes of a changed file arrive during the removal of the old checkpoint, the bytes are kept")
    func bytesWhileForgetting() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(wholeOther))
        attempt.expect(.received(count: 300))
        attempt.expect(.forgotten, .restartPart, .resumeTransfer, .flush)
        attempt.after(.received(count: 500))
        attempt.expect(.transferComplete, .releaseSlot, .seal(size: 800))
    }

    @Test("If a response ends during the removal of the old checkpoint, the response is not requested again")
    func emptyWhileForgetting() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(head(200, "Content-Length: 0", "ETag: \"b\"")), .forgetCheckpoint)
        attempt.expect(.transferComplete)
        attempt.expect(.forgotten, .restartPart, .releaseSlot, .seal(size: 0))
    }

    @Test("If the server sends a range of a changed file, the task starts again from byte 0")
    func mixture() {
        let other = head(206, "Content-Range: bytes 500-999/1000", "ETag: \"b\"")
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500))
        let failure = Failure(
            .badResponse, "the server responded with status 206 with another entity tag than before", domain: .http,
            detail: 206)
        attempt.expect(.head(other), .stopTransfer, .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.again(failure, fromZero: true), nil))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("If a range is shorter than requested, its bytes are kept, and the next run of the task requests the rest")
    func slice() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(head(206, "Content-Range: bytes 500-599/1000", "ETag: \"a\"")))
        attempt.expect(.received(count: 100), .flush)
        let failure = Failure(.connectionLost, "the server sent the bytes up to 600 of 1000 only")
        attempt.expect(.transferComplete, .releaseSlot, .sync)
        attempt.expect(.synced(length: 600), .conclude(.again(failure), .kept(600)))
        #expect(attempt.machine.madeProgress)
    }

    @Test("Only bytes beyond the furthest offset of all earlier runs of the task count as progress")
    func furthest() {
        for (count, isProgress) in [(400, false), (401, true)] {
            var machine = DownloadMachine(
                checkpoint: nil, intent: nil, bootID: "boot", furthest: 400, limits: .small)
            for event: DownloadMachine.Event in [
                .start, .head(whole), .received(count: count), .transferFailed(.lost, isTransient: true),
                .appended(length: UInt64(count)), .synced(length: UInt64(count)),
            ] { _ = machine.handle(event) }
            #expect(machine.phase == .concluding)
            #expect(machine.madeProgress == isProgress)
            #expect(machine.furthest == UInt64(count))
        }
    }

    @Test(
        "If a task receives more bytes than the server announced, the task starts again from byte 0",
        arguments: [
            (Checkpoint?.none, whole, 1_001), (nil, head(200, "Content-Length: 0"), 1), (.kept(500), rest, 501),
            (.kept(500), head(206, "Content-Range: bytes 500-599/1000", "ETag: \"a\""), 101), (nil, whole, Int.max),
        ])
    func tooMany(_ checkpoint: Checkpoint?, _ head: ResponseHead, _ count: Int) {
        var attempt = DownloadScript(from: checkpoint)
        attempt.after(.start, .opened(length: 500), .head(head))
        attempt.expect(.received(count: count), .stopTransfer, .releaseSlot, .discardPart)
        guard case .conclude(.retry(let failure, _, _, fromZero: true), nil)? = attempt.conclusion(after: .discarded)
        else {
            Issue.record("the download is not retried from the start")
            return
        }
        #expect(failure.status == .badResponse)
    }
}

extension DownloadScript {
    mutating func conclusion(after event: DownloadMachine.Event) -> DownloadMachine.Action? {
        var copy = machine
        return copy.handle(event).first { if case .conclude = $0 { true } else { false } }
    }
}
