import BackhaulModel
import Testing

@Suite("A download after a crash, a cancel, a stop or a timeout")
struct DownloadStopTests {
    // MARK: After a crash with a finish intent

    @Test("After a crash, a sealed file that exists is placed, and its task releases the slot")
    func sealedIsThere() {
        var attempt = DownloadScript(from: .kept(500), intent: .sealed)
        attempt.expect(.start, .checkSealedFile(.sealed))
        attempt.expect(.sealedFileChecked(isThere: true), .releaseSlot, .place(.sealed))
        attempt.expect(.placed, .conclude(.succeeded, .kept(500)))
        attempt.expect(.concluded, .closePart)
        #expect(attempt.machine.size == 1_000)
    }

    @Test("After a crash, a sealed file that is missing is downloaded again from byte 0")
    func sealedIsGone() {
        var attempt = DownloadScript(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.expect(.sealedFileChecked(isThere: false), .forgetCheckpoint)
        attempt.expect(.forgotten, .restartPart, .startTransfer(offset: 0, ifRange: nil))
    }

    @Test("without a slot, a sealed file that is missing is forgotten, and no request is sent")
    func sealedIsGoneWithoutSlot() {
        var terms = DownloadTerms()
        terms.mayRequest = false
        var attempt = DownloadScript(from: .kept(500), intent: .sealed, terms: terms)
        attempt.after(.start)
        attempt.expect(.sealedFileChecked(isThere: false), .forgetCheckpoint)
        attempt.expect(.forgotten, .restartPart, .releaseSlot, .conclude(.stopped, nil))
        attempt.expect(.concluded, .closePart)
    }

    @Test("if the disk fails during the check for a sealed file, the task is retried and keeps its checkpoint")
    func lookingFails() {
        var attempt = DownloadScript(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.expect(.diskFailed(.broken), .releaseSlot, .conclude(.again(.broken), .kept(500)))
    }

    @Test("If a task is stopped during the check for its sealed file, the task keeps its checkpoint")
    func leaveWhileLooking() {
        var attempt = DownloadScript(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.expect(.stop, .releaseSlot, .conclude(.stopped, .kept(500)))
        attempt.expect(.sealedFileChecked(isThere: true))
        attempt.expect(.concluded, .closePart)
    }

    // MARK: After the timeout

    @Test("A task fails at its deadline and leaves no part file")
    func expired() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.expect(.expire(.timedOut), .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(.timedOut), nil))
    }

    @Test("A sealed file is placed even after the task's deadline")
    func expiredButSealed() {
        var attempt = DownloadScript(intent: .sealed)
        attempt.expect(.expire(.timedOut), .checkSealedFile(.sealed))
        attempt.expect(.expire(.timedOut))
        attempt.expect(.sealedFileChecked(isThere: true), .releaseSlot, .place(.sealed))
    }

    @Test("After the task's deadline, a missing sealed file is not downloaded again")
    func expiredAndGone() {
        var attempt = DownloadScript(intent: .sealed)
        attempt.after(.start, .expire(.timedOut))
        attempt.expect(.sealedFileChecked(isThere: false), .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(.timedOut), nil))
    }

    @Test(
        "after its deadline, a task whose complete file cannot be checked or placed fails, and does not wait",
        arguments: [Failure.full, .broken])
    func expiredAndUnnamed(failure: Failure) {
        var checking = DownloadScript(from: .kept(500), intent: .sealed)
        checking.after(.expire(.timedOut))
        checking.expect(.diskFailed(failure), .releaseSlot, .discardPart)
        checking.expect(.discarded, .conclude(.failed(.timedOut), nil))
        var placing = DownloadScript(from: .kept(500), intent: .sealed)
        placing.after(.expire(.timedOut), .sealedFileChecked(isThere: true))
        placing.expect(.diskFailed(failure), .discardPart)
        placing.expect(.discarded, .conclude(.failed(.timedOut), nil))
    }

    @Test("a complete file whose request was interrupted, and must not be repeated, waits for a disk that fails")
    func interruptedAndUnnamed() {
        let interruption = Failure(.connectionLost, "an engine ended while the request was under way")
        var attempt = DownloadScript(from: .kept(500), intent: .sealed)
        attempt.after(.expire(interruption), .sealedFileChecked(isThere: true))
        attempt.expect(.diskFailed(.full), .conclude(.again(.full, reason: .diskFull), .kept(500)))
        #expect(attempt.machine.hasCompleteFile)
    }

    // MARK: Stopped

    @Test("A suspended task keeps its received bytes")
    func suspended() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 70))
        attempt.expect(.stop, .stopTransfer, .releaseSlot, .flush, .sync)
        attempt.expect(.synced(length: 70), .conclude(.stopped, .kept(70)))
        attempt.expect(.concluded, .closePart)
    }

    @Test("If the download of a suspended task cannot be resumed, the task drops its bytes")
    func suspendedWithoutValidator() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(unvalidated), .received(count: 70))
        attempt.expect(.stop, .stopTransfer, .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.stopped, nil))
    }

    @Test("if a task is suspended after it has received all bytes, the task still finishes")
    func suspendedWhileSealing() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.expect(.stop)
        attempt.expect(.sealed(.sealed), .recordIntent(.sealed))
    }

    // MARK: Cancelled

    @Test("A cancelled task leaves no part file, even if the task never ran")
    func cancelledBeforeTheStart() {
        var attempt = DownloadScript()
        attempt.expect(.cancel, .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.stopped, nil))
        attempt.expect(.concluded, .closePart)
        attempt.expect(.start)
    }

    @Test("A cancel stops the transfer, and later results of the disk are ignored")
    func cancelled() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 70), .tick)
        attempt.expect(.cancel, .stopTransfer, .releaseSlot, .discardPart)
        attempt.expect(.appended(length: 70))
        attempt.expect(.synced(length: 70))
        attempt.expect(.discarded, .conclude(.stopped, nil))
    }

    @Test("If a task is cancelled during the sync of its last bytes, no part file is left")
    func cancelledWhileSaving() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 70), .transferFailed(.lost, isTransient: true))
        attempt.expect(.cancel, .discardPart)
        attempt.expect(.synced(length: 70))
        attempt.expect(.discarded, .conclude(.stopped, nil))
    }

    @Test("If a task is cancelled during the seal, no file is placed")
    func cancelledWhileSealing() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.expect(.cancel)
        attempt.expect(.sealed(.sealed), .discardPart)
        attempt.expect(.discarded, .conclude(.stopped, nil))
    }

    @Test("If a task is cancelled before its finish intent is recorded, no file is placed")
    func refusedIntent() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete, .sealed(.sealed))
        attempt.expect(.intentRefused, .discardPart)
        attempt.expect(.discarded, .conclude(.stopped, nil))
    }

    @Test("If a task is cancelled during its seal and the seal fails, no part file is left")
    func cancelledWhileSealFails() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 1_000), .cancel)
        attempt.expect(.diskFailed(.broken), .discardPart)
        attempt.expect(.discarded, .conclude(.stopped, nil))
    }

    @Test("If a task is cancelled during its conclusion, no part file is left")
    func cancelledWhileConcluding() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 70), .transferFailed(.lost, isTransient: true))
        attempt.after(.synced(length: 70))
        attempt.expect(.cancel)
        attempt.expect(.concluded, .discardPart)
        attempt.expect(.discarded, .closePart)
        #expect(attempt.machine.isOver)
    }

    @Test("If a task is cancelled while its file is being placed, the file stays")
    func cancelledAfterPlacing() {
        var attempt = DownloadScript(intent: .sealed)
        attempt.after(.start, .sealedFileChecked(isThere: true), .cancel)
        attempt.expect(.placed, .conclude(.succeeded, nil))
        attempt.expect(.concluded, .closePart)
    }

    @Test("If a failed task is cancelled during the removal of its part file, it ends as stopped after the removal")
    func cancelledWhileDiscarding() {
        var attempt = DownloadScript()
        attempt.after(.start, .transferFailed(.refused, isTransient: false))
        attempt.expect(.cancel)
        attempt.expect(.discarded, .conclude(.stopped, nil))
    }
}
