import BackhaulModel
import Testing

@Suite("A failed download")
struct BreakingTests {
    @Test("Received bytes are written and synced before the next attempt")
    func connectionLost() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70))
        attempt.when(.transferFailed(.lost, isTransient: true), .releaseSlot, .flush, .sync)
        attempt.when(.appended(length: 70))
        attempt.when(.synced(length: 70), .conclude(.again(.lost), .kept(70)))
        attempt.when(.concluded, .closePart)
        #expect(attempt.machine.madeProgress)
    }

    @Test("A sync that began before the last bytes is followed by another one")
    func syncUnderWay() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70), .tick, .received(count: 20))
        attempt.when(.transferFailed(.lost, isTransient: true), .releaseSlot, .flush)
        attempt.when(.synced(length: 70), .sync)
        attempt.when(.synced(length: 90), .conclude(.again(.lost), .kept(90)))
    }

    @Test("A response that is too short counts as a lost connection")
    func short() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 70))
        let failure = Failure(.connectionLost, "the answer ended after 70 of 1000 bytes")
        attempt.when(.transferComplete, .releaseSlot, .flush, .sync)
        attempt.when(.synced(length: 70), .conclude(.again(failure), .kept(70)))
    }

    @Test("Bytes that cannot be resumed are dropped and are no progress")
    func nothingToContinue() {
        var attempt = Attempt()
        attempt.after(.start, .head(unvalidated), .received(count: 70), .tick)
        attempt.when(.transferFailed(.lost, isTransient: true), .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.again(.lost), nil))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("Without new bytes the old checkpoint stays")
    func nothingNew() {
        var attempt = Attempt(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        attempt.when(.transferFailed(.lost, isTransient: true), .releaseSlot, .conclude(.again(.lost), .kept(400)))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("When a retry is refused, the task fails and leaves no part file")
    func lastTry() {
        var attempt = Attempt(from: .kept(400))
        attempt.after(.start, .opened(length: 500), .transferFailed(.lost, isTransient: true))
        attempt.when(.retryRefused, .discardPart)
        attempt.when(.discarded, .conclude(.failed(.lost), nil))
        attempt.when(.retryRefused)
        attempt.when(.concluded, .closePart)
    }

    @Test("A permanent failure ends the task and leaves no part file")
    func permanent() {
        var attempt = Attempt(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        attempt.when(.transferFailed(.refused, isTransient: false), .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.failed(.refused), nil))
    }

    @Test("A 503 is read to its end, and retried after Retry-After from the offset")
    func retryAfter() {
        let answer = head(503, retryAfter: 30)
        let failure = Failure(.httpStatus, "the server answered with status 503", domain: .http, detail: 503)
        var attempt = Attempt(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        attempt.when(.head(answer))
        attempt.when(.transferComplete, .releaseSlot, .conclude(.again(failure, after: 30), .kept(400)))
    }

    @Test("A response with an error status is read to its end, and ends the task")
    func refused() {
        let failure = Failure(.httpStatus, "the server answered with status 404", domain: .http, detail: 404)
        var attempt = Attempt()
        attempt.after(.start)
        attempt.when(.head(head(404)))
        #expect(attempt.machine.wantsBytes)
        attempt.when(.received(count: 49))
        attempt.when(.transferComplete, .releaseSlot, .discardPart)
        attempt.when(.discarded, .conclude(.failed(failure), nil))
    }

    @Test("The body of an error is read for a limited time")
    func drippingErrorBody() {
        var limits = DownloadMachine.BufferLimits.small
        limits.errorTicks = 2
        var attempt = Attempt(limits: limits)
        attempt.after(.start, .head(head(404)), .received(count: 1), .tick)
        attempt.when(.tick, .stopTransfer, .releaseSlot, .discardPart)
    }

    @Test("The body of an error is read up to the size that is stored")
    func endlessErrorBody() {
        var attempt = Attempt()
        attempt.after(.start, .head(head(404)), .received(count: 49))
        attempt.when(.received(count: 1), .stopTransfer, .releaseSlot, .discardPart)
    }

    @Test("A connection that is lost during the body of an error ends the task, too")
    func brokenErrorBody() {
        var attempt = Attempt()
        attempt.after(.start, .head(head(404)))
        attempt.when(.transferFailed(.lost, isTransient: true), .releaseSlot, .discardPart)
        guard case .conclude(.failed(let failure), nil)? = attempt.conclusion(after: .discarded) else {
            Issue.record("the task has not failed")
            return
        }
        #expect(failure.detail == 404)
    }

    @Test("A transfer that ends without a response is retried")
    func noAnswer() {
        var attempt = Attempt(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        let failure = Failure(.badResponse, "the transfer ended without an answer")
        attempt.when(.transferComplete, .releaseSlot, .conclude(.again(failure), .kept(400)))
    }
}

@Suite("Disk failures of a download")
struct DiskFailureTests {
    @Test("After a failed sync the file is cut to its last synced length")
    func failedSync() {
        var attempt = Attempt(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(rest), .received(count: 100), .tick)
        attempt.when(
            .diskFailed(.broken), .stopTransfer, .releaseSlot, .openPart(isSameBoot: false, syncedOffset: 500),
            .conclude(.again(.broken), .kept(500, boot: "")))
        attempt.when(.opened(length: 500))
        attempt.when(.concluded, .closePart)
    }

    @Test("After a failed sync of a suspended task the file is cut to its last synced length")
    func failedLastSync() {
        var attempt = Attempt(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(rest), .received(count: 100), .leave)
        attempt.when(
            .diskFailed(.broken), .openPart(isSameBoot: false, syncedOffset: 500),
            .conclude(.left, .kept(500, boot: "")))
    }

    @Test("After a failed seal the file is cut to its last synced length")
    func failedSeal() {
        var attempt = Attempt(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(rest), .received(count: 500), .transferComplete)
        attempt.when(
            .diskFailed(.broken), .openPart(isSameBoot: false, syncedOffset: 500),
            .conclude(.again(.broken), .kept(500, boot: "")))
        attempt.when(.sealed(.sealed))
    }

    @Test("On a full disk the task waits")
    func full() {
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 100))
        attempt.when(
            .diskFailed(.full), .stopTransfer, .releaseSlot, .conclude(.again(.full, reason: .diskFull), nil))
    }

    @Test("A file with a finish intent is not cut, and the next attempt looks for it")
    func failedPlacing() {
        var attempt = Attempt(from: .kept(500))
        attempt.after(.start, .opened(length: 1_000), .sealed(.sealed), .intentRecorded)
        attempt.when(.diskFailed(.broken), .conclude(.again(.broken), .kept(500)))
    }

    @Test("An unusable destination ends the task", arguments: [
        Status.destinationExists, .destinationUnavailable, .tooLarge,
    ])
    func destination(_ status: Status) {
        let failure = Failure(status, "no")
        var attempt = Attempt()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.after(.sealed(.sealed), .intentRecorded)
        attempt.when(.diskFailed(failure), .discardPart)
        attempt.when(.discarded, .conclude(.failed(failure), nil))
    }

    @Test("A transient failure of the disk is retried", arguments: [
        Status.diskFailed, .outOfResources, .storeFull, .storeUnavailable, .engineFailed, .internal,
    ])
    func nextTime(_ status: Status) {
        let failure = Failure(status, "not now")
        var attempt = Attempt(from: .kept(400))
        attempt.after(.start, .opened(length: 500), .head(wholeOther))
        attempt.when(.diskFailed(failure), .stopTransfer, .releaseSlot, .conclude(.again(failure), nil))
    }

    @Test("A lack of descriptors when the part is opened loses no bytes")
    func noDescriptors() {
        let failure = Failure(.outOfResources, "no descriptors")
        var attempt = Attempt(from: .kept(400))
        attempt.after(.start)
        attempt.when(.diskFailed(failure), .releaseSlot, .conclude(.again(failure), .kept(400)))
    }

    @Test("A part file with a wrong length is started again")
    func wrongLength() {
        let failure = Failure(.badResponse, "another length")
        var attempt = Attempt(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(rest), .received(count: 500), .transferComplete)
        attempt.when(.diskFailed(failure), .discardPart)
        attempt.when(.discarded, .conclude(.again(failure, fromZero: true), nil))
    }

    @Test("A task ends even if its part file cannot be removed")
    func cannotDiscard() {
        var attempt = Attempt()
        attempt.after(.start, .transferFailed(.refused, isTransient: false))
        attempt.when(.diskFailed(.broken), .conclude(.failed(.refused), nil))
    }
}
