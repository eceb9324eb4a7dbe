import BackhaulModel
import Testing

@Suite("A download after a crash, a cancel, a stop or a timeout")
struct LeavingTests {
    // MARK: After a crash behind the intent

    @Test("A sealed file needs nothing but its name, and releases its slot")
    func sealedIsThere() {
        var attempt = Attempt(from: .kept(500), intent: .sealed)
        attempt.when(.start, .lookForSealed(.sealed))
        attempt.when(.lookedForSealed(isThere: true), .releaseSlot, .place(.sealed))
        attempt.when(.placed, .conclude(.succeeded, .kept(500)))
        attempt.when(.concluded, .closePart)
        #expect(attempt.machine.size == 1_000)
    }

    @Test("A sealed file that is gone is fetched again, from its first byte")
    func sealedIsGone() {
        var attempt = Attempt(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.when(.lookedForSealed(isThere: false), .forgetCheckpoint)
        attempt.when(.forgotten, .restartPart, .startTransfer(offset: 0, ifRange: nil))
    }

    @Test("A directory that cannot be read now is looked at again later")
    func lookingFails() {
        var attempt = Attempt(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.when(.diskFailed(.broken), .releaseSlot, .conclude(.again(.broken), .kept(500)))
    }

    @Test("Leaving while it is looked for keeps the intent for the next attempt")
    func leaveWhileLooking() {
        var attempt = Attempt(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.when(.leave, .releaseSlot, .conclude(.left, .kept(500)))
        attempt.when(.lookedForSealed(isThere: true))
        attempt.when(.concluded, .closePart)
    }

    // MARK: Too late

    @Test("A task whose time is over fails and leaves no part file")
    func expired() {
        var attempt = Attempt(from: .kept(500))
        attempt.when(.expire(.timeOver), .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.failed(.timeOver), nil))
    }

    @Test("When all bytes had come in time, it is not too late to give them their name")
    func expiredButSealed() {
        var attempt = Attempt(intent: .sealed)
        attempt.when(.expire(.timeOver), .lookForSealed(.sealed))
        attempt.when(.expire(.timeOver))
        attempt.when(.lookedForSealed(isThere: true), .releaseSlot, .place(.sealed))
    }

    @Test("After the timeout they are not fetched again")
    func expiredAndGone() {
        var attempt = Attempt(intent: .sealed)
        attempt.after(.start, .expire(.timeOver))
        attempt.when(.lookedForSealed(isThere: false), .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.failed(.timeOver), nil))
    }

    // MARK: Left

    @Test("A suspended task keeps what came")
    func suspended() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70))
        attempt.when(.leave, .stopTransfer, .releaseSlot, .flush, .sync)
        attempt.when(.synced(length: 70), .conclude(.left, .kept(70)))
        attempt.when(.concluded, .closePart)
    }

    @Test("What cannot be continued is not kept")
    func suspendedWithoutValidator() {
        var attempt = Attempt()
        attempt.after(.start, .head(unvalidated), .received(count: 70))
        attempt.when(.leave, .stopTransfer, .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("A task that has all its bytes is finished all the same")
    func suspendedWhileSealing() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.when(.leave)
        attempt.when(.sealed(.sealed), .recordIntent(.sealed))
    }

    // MARK: Cancelled

    @Test("A cancelled task leaves no part file, even one that never ran and one whose crash left some bytes")
    func cancelledBeforeTheStart() {
        var attempt = Attempt()
        attempt.when(.cancel, .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
        attempt.when(.concluded, .closePart)
        attempt.when(.start)
    }

    @Test("Cancelling stops the transfer and wins over what the disk still has to say")
    func cancelled() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70), .tick)
        attempt.when(.cancel, .stopTransfer, .releaseSlot, .discardPart)
        attempt.when(.appended(length: 70))
        attempt.when(.synced(length: 70))
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("Cancelled while its last bytes are being saved, nothing is saved")
    func cancelledWhileSaving() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70), .transferFailed(.lost, isTransient: true))
        attempt.when(.cancel, .discardPart)
        attempt.when(.synced(length: 70))
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("Cancelled while the file is sealed, it is not placed")
    func cancelledWhileSealing() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.when(.cancel)
        attempt.when(.sealed(.sealed), .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("Cancelled before the intent is recorded, the intent is refused and the file is not placed")
    func refusedIntent() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete, .sealed(.sealed))
        attempt.when(.intentRefused, .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("Cancelled while the seal fails, no part file is left")
    func cancelledWhileSealFails() {
        var attempt = Attempt(from: .kept(500))
        attempt.after(.start, .opened(length: 1_000), .cancel)
        attempt.when(.diskFailed(.broken), .discardPart)
        attempt.when(.discarded, .conclude(.left, nil))
    }

    @Test("Cancelled while the conclusion is being committed, the kept part file goes too")
    func cancelledWhileConcluding() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70), .transferFailed(.lost, isTransient: true))
        attempt.after(.synced(length: 70))
        attempt.when(.cancel)
        attempt.when(.concluded, .discardPart)
        attempt.when(.discarded, .closePart)
        #expect(attempt.machine.isOver)
    }

    @Test("A placed file stays whatever comes then")
    func cancelledAfterPlacing() {
        var attempt = Attempt(intent: .sealed)
        attempt.after(.start, .lookedForSealed(isThere: true), .cancel)
        attempt.when(.placed, .conclude(.succeeded, nil))
        attempt.when(.concluded, .closePart)
    }

    @Test("A part that is being removed for another reason is removed for a cancelled task")
    func cancelledWhileDiscarding() {
        var attempt = Attempt()
        attempt.after(.start, .transferFailed(.refused, isTransient: false))
        attempt.when(.cancel)
        attempt.when(.discarded, .conclude(.left, nil))
    }
}
