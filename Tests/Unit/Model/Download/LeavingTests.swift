import BackhaulModel
import Testing

@Suite("A download after a crash, a cancel, a stop or a timeout")
struct LeavingTests {
    // MARK: After a crash with a finish intent

    @Test("A sealed file releases its slot and is placed")
    func sealedIsThere() {
        var attempt = Attempt(from: .kept(500), intent: .sealed)
        attempt.when(.start, .lookForSealed(.sealed))
        attempt.when(.lookedForSealed(isThere: true), .releaseSlot, .place(.sealed))
        attempt.when(.placed, .conclude(.succeeded, .kept(500)))
        attempt.when(.concluded, .closePart)
        #expect(attempt.machine.size == 1_000)
    }

    @Test("A missing sealed file is fetched again from its first byte")
    func sealedIsGone() {
        var attempt = Attempt(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.when(.lookedForSealed(isThere: false), .forgetCheckpoint)
        attempt.when(.forgotten, .restartPart, .startTransfer(offset: 0, ifRange: nil))
    }

    @Test("A directory that cannot be read is read again by the next attempt")
    func lookingFails() {
        var attempt = Attempt(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.when(.diskFailed(.broken), .releaseSlot, .conclude(.again(.broken), .kept(500)))
    }

    @Test("A stop during the search for a sealed file keeps the intent")
    func leaveWhileLooking() {
        var attempt = Attempt(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.when(.leave, .releaseSlot, .conclude(.left, .kept(500)))
        attempt.when(.lookedForSealed(isThere: true))
        attempt.when(.concluded, .closePart)
    }

    // MARK: After the timeout

    @Test("A task past its deadline fails and leaves no part file")
    func expired() {
        var attempt = Attempt(from: .kept(500))
        attempt.when(.expire(.timeOver), .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.failed(.timeOver), nil))
    }

    @Test("A sealed file is placed even after the timeout")
    func expiredButSealed() {
        var attempt = Attempt(intent: .sealed)
        attempt.when(.expire(.timeOver), .lookForSealed(.sealed))
        attempt.when(.expire(.timeOver))
        attempt.when(.lookedForSealed(isThere: true), .releaseSlot, .place(.sealed))
    }

    @Test("After the timeout a missing sealed file is not fetched again")
    func expiredAndGone() {
        var attempt = Attempt(intent: .sealed)
        attempt.after(.start, .expire(.timeOver))
        attempt.when(.lookedForSealed(isThere: false), .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.failed(.timeOver), nil))
    }

    // MARK: Stopped

    @Test("A suspended task keeps its bytes")
    func suspended() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70))
        attempt.when(.leave, .stopTransfer, .releaseSlot, .flush, .sync)
        attempt.when(.synced(length: 70), .conclude(.left, .kept(70)))
        attempt.when(.concluded, .closePart)
    }

    @Test("A suspended task drops bytes that cannot be resumed")
    func suspendedWithoutValidator() {
        var attempt = Attempt()
        attempt.after(.start, .head(unvalidated), .received(count: 70))
        attempt.when(.leave, .stopTransfer, .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("A task with all its bytes is finished even if it is suspended")
    func suspendedWhileSealing() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.when(.leave)
        attempt.when(.sealed(.sealed), .recordIntent(.sealed))
    }

    // MARK: Cancelled

    @Test("A cancelled task leaves no part file, even if it never ran")
    func cancelledBeforeTheStart() {
        var attempt = Attempt()
        attempt.when(.cancel, .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
        attempt.when(.concluded, .closePart)
        attempt.when(.start)
    }

    @Test("Cancelling stops the transfer, and later results of the disk are ignored")
    func cancelled() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70), .tick)
        attempt.when(.cancel, .stopTransfer, .releaseSlot, .discardPart)
        attempt.when(.appended(length: 70))
        attempt.when(.synced(length: 70))
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("A task that is cancelled while its last bytes are saved leaves no part file")
    func cancelledWhileSaving() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70), .transferFailed(.lost, isTransient: true))
        attempt.when(.cancel, .discardPart)
        attempt.when(.synced(length: 70))
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("A task that is cancelled during the seal places no file")
    func cancelledWhileSealing() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.when(.cancel)
        attempt.when(.sealed(.sealed), .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("A task that is cancelled before its intent is recorded places no file")
    func refusedIntent() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete, .sealed(.sealed))
        attempt.when(.intentRefused, .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("A task that is cancelled during a failing seal leaves no part file")
    func cancelledWhileSealFails() {
        var attempt = Attempt(from: .kept(500))
        attempt.after(.start, .opened(length: 1_000), .cancel)
        attempt.when(.diskFailed(.broken), .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("A task that is cancelled during its conclusion leaves no part file")
    func cancelledWhileConcluding() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70), .transferFailed(.lost, isTransient: true))
        attempt.after(.synced(length: 70))
        attempt.when(.cancel)
        attempt.when(.concluded, .discardPart)
        attempt.when(.discarded, .closePart)
        #expect(attempt.machine.isOver)
    }

    @Test("A placed file stays after a late cancel")
    func cancelledAfterPlacing() {
        var attempt = Attempt(intent: .sealed)
        attempt.after(.start, .lookedForSealed(isThere: true), .cancel)
        attempt.when(.placed, .conclude(.succeeded, nil))
        attempt.when(.concluded, .closePart)
    }

    @Test("A cancel while the part file is removed changes the conclusion only")
    func cancelledWhileDiscarding() {
        var attempt = Attempt()
        attempt.after(.start, .transferFailed(.refused, isTransient: false))
        attempt.when(.cancel)
        attempt.when(.discarded, .conclude(.left, nil))
    }
}
