import BackhaulModel
import Testing

@Suite("A failed download")
struct DownloadFailureTests {
    @Test("Before a failed attempt ends, the received bytes are written and synced")
    func connectionLost() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 70))
        attempt.expect(.transferFailed(.lost, isTransient: true), .releaseSlot, .flush, .sync)
        attempt.expect(.appended(length: 70))
        attempt.expect(.synced(length: 70), .conclude(.again(.lost), .kept(70)))
        attempt.expect(.concluded, .closePart)
        #expect(attempt.machine.madeProgress)
    }

    @Test("If bytes arrive during a sync, they are synced before the failed attempt ends")
    func syncUnderWay() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 70), .tick, .received(count: 20))
        attempt.expect(.transferFailed(.lost, isTransient: true), .releaseSlot, .flush)
        attempt.expect(.synced(length: 70), .sync)
        attempt.expect(.synced(length: 90), .conclude(.again(.lost), .kept(90)))
    }

    @Test("A response that is too short counts as a lost connection")
    func short() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 70))
        let failure = Failure(.connectionLost, "the response ended after 70 of 1000 bytes")
        attempt.expect(.transferComplete, .releaseSlot, .flush, .sync)
        attempt.expect(.synced(length: 70), .conclude(.again(failure), .kept(70)))
    }

    @Test("If a download cannot be resumed, its bytes are dropped and do not count as progress")
    func nothingToContinue() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(unvalidated), .received(count: 70), .tick)
        attempt.expect(.transferFailed(.lost, isTransient: true), .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.again(.lost), nil))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("An attempt without new bytes keeps the old checkpoint")
    func nothingNew() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.transferFailed(.lost, isTransient: true), .releaseSlot, .conclude(.again(.lost), .kept(400)))
        #expect(!attempt.machine.madeProgress)
    }

    @Test("When a retry is refused, the task fails and leaves no part file")
    func lastTry() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500), .transferFailed(.lost, isTransient: true))
        attempt.expect(.retryRefused, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(.lost), nil))
        attempt.expect(.retryRefused)
        attempt.expect(.concluded, .closePart)
    }

    @Test("After a permanent failure of the transfer, the task ends and leaves no part file")
    func permanent() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.transferFailed(.refused, isTransient: false), .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(.refused), nil))
    }

    @Test("A response with status 503 is read to its end, and the task resumes after the delay in Retry-After")
    func retryAfter() {
        let response = head(503, retryAfter: 30)
        let failure = Failure(.httpStatus, "the server responded with status 503", domain: .http, detail: 503)
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(response))
        attempt.expect(.transferComplete, .releaseSlot, .conclude(.again(failure, after: 30), .kept(400)))
    }

    @Test("A response with an error status is read to its end, and then the task ends")
    func refused() {
        let failure = Failure(.httpStatus, "the server responded with status 404", domain: .http, detail: 404)
        var attempt = DownloadScript()
        attempt.after(.start)
        attempt.expect(.head(head(404)))
        #expect(attempt.machine.wantsBytes)
        attempt.expect(.received(count: 49))
        attempt.expect(.transferComplete, .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(failure), nil))
    }

    @Test(
        "If the link may have expired, the bytes stay for a later task with the same key, if they can be recognized",
        arguments: [
            (403, "\"a\"", true, true), (404, "\"a\"", true, true), (410, "\"a\"", true, true),
            (405, "\"a\"", true, false), (403, nil, true, false), (403, "\"a\"", false, false),
        ] as [(Int32, String?, Bool, Bool)])
    func expired(_ status: Int32, _ tag: String?, _ hasKey: Bool, _ stays: Bool) {
        var terms = DownloadTerms()
        terms.isContinuable = hasKey
        var attempt = DownloadScript(from: .kept(400, tag: tag), terms: terms)
        // The server refuses the range, and then the whole file.
        attempt.after(.start, .opened(length: 500), .head(head(status)), .head(head(status)))
        let keeps = attempt.handle(.transferComplete).contains {
            if case .conclude(.failed, .some) = $0 { true } else { false }
        }
        #expect(keeps == stays)
    }

    @Test("The body of a response with an error status is read only for a limited time")
    func drippingErrorBody() {
        var limits = DownloadMachine.BufferLimits.small
        limits.errorTicks = 2
        var attempt = DownloadScript(limits: limits)
        attempt.after(.start, .head(head(404)), .received(count: 1), .tick)
        attempt.expect(.tick, .stopTransfer, .releaseSlot, .discardPart)
    }

    @Test("The body of a response with an error status is read only up to the number of bytes that the store keeps")
    func endlessErrorBody() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(head(404)), .received(count: 49))
        attempt.expect(.received(count: 1), .stopTransfer, .releaseSlot, .discardPart)
    }

    @Test("After an error status, the task ends with this status, even if the connection is then lost")
    func brokenErrorBody() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(head(404)))
        attempt.expect(.transferFailed(.lost, isTransient: true), .releaseSlot, .discardPart)
        guard case .conclude(.failed(let failure), nil)? = attempt.conclusion(after: .discarded) else {
            Issue.record("the task has not failed")
            return
        }
        #expect(failure.detail == 404)
    }

    @Test("A transfer that ends without a response is retried")
    func noAnswer() {
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500))
        let failure = Failure(.badResponse, "the transfer ended without a response")
        attempt.expect(.transferComplete, .releaseSlot, .conclude(.again(failure), .kept(400)))
    }
}

@Suite("Disk failures of a download")
struct DiskFailureTests {
    @Test("If a sync fails, the part file is cut to its last synced length")
    func failedSync() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(rest), .received(count: 100), .tick)
        attempt.expect(
            .diskFailed(.broken), .stopTransfer, .releaseSlot, .openPart(isSameBoot: false, syncedOffset: 500),
            .conclude(.again(.broken), .kept(500, boot: "")))
        attempt.expect(.opened(length: 500))
        attempt.expect(.concluded, .closePart)
    }

    @Test("if a task is suspended and its last sync fails, the part file is cut to its last synced length")
    func failedLastSync() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(rest), .received(count: 100), .stop)
        attempt.expect(
            .diskFailed(.broken), .openPart(isSameBoot: false, syncedOffset: 500),
            .conclude(.stopped, .kept(500, boot: "")))
    }

    @Test("If a seal fails, the part file is cut to its last synced length")
    func failedSeal() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(rest), .received(count: 500), .transferComplete)
        attempt.expect(
            .diskFailed(.broken), .openPart(isSameBoot: false, syncedOffset: 500),
            .conclude(.again(.broken), .kept(500, boot: "")))
        attempt.expect(.sealed(.sealed))
    }

    @Test("While the disk is full, the task waits")
    func full() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 100))
        attempt.expect(
            .diskFailed(.full), .stopTransfer, .releaseSlot, .conclude(.again(.full, reason: .diskFull), nil))
    }

    @Test("If a file has a finish intent and cannot be placed, the file is not cut, and the task is retried")
    func failedPlacing() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 1_000), .sealed(.sealed), .intentRecorded)
        attempt.expect(.diskFailed(.broken), .conclude(.again(.broken), .kept(500)))
    }

    @Test(
        "a download fails if another file has its name, or if the file is too large",
        arguments: [
            Status.destinationExists, .tooLarge,
        ])
    func destination(_ status: Status) {
        let failure = Failure(status, "no")
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.after(.sealed(.sealed), .intentRecorded)
        attempt.expect(.diskFailed(failure), .discardPart)
        attempt.expect(.discarded, .conclude(.failed(failure), nil))
    }

    @Test("a complete file that cannot get its name keeps its bytes, and waits for its storage")
    func unnamed() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 1_000), .sealed(.sealed), .intentRecorded)
        attempt.expect(.diskFailed(.gone), .conclude(.again(.gone, reason: .storage), .kept(500)))
    }

    @Test("a complete file that the next attempt cannot check keeps its bytes, and waits for its storage")
    func unchecked() {
        var attempt = DownloadScript(from: .kept(500), intent: .sealed)
        attempt.after(.start)
        attempt.expect(.diskFailed(.gone), .releaseSlot, .conclude(.again(.gone, reason: .storage), .kept(500)))
    }

    @Test("a destination that cannot be used fails the task while its bytes are still arriving")
    func unusable() {
        var attempt = DownloadScript()
        attempt.after(.start, .head(whole), .received(count: 100))
        attempt.expect(.diskFailed(.gone), .stopTransfer, .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(.gone), nil))
    }

    @Test("if the storage is away, the task keeps its bytes and waits, in each step of an attempt")
    func away() {
        var opening = DownloadScript(from: .kept(500))
        opening.after(.start)
        opening.expect(.diskFailed(.away), .releaseSlot, .conclude(.again(.away, reason: .storage), .kept(500)))
        var receiving = DownloadScript()
        receiving.after(.start, .head(whole), .received(count: 100))
        receiving.expect(
            .diskFailed(.away), .stopTransfer, .releaseSlot, .conclude(.again(.away, reason: .storage), nil))
        var sealing = DownloadScript(from: .kept(500))
        sealing.after(.start, .opened(length: 500), .head(rest), .received(count: 500), .transferComplete)
        sealing.expect(
            .diskFailed(.away), .openPart(isSameBoot: false, syncedOffset: 500),
            .conclude(.again(.away, reason: .storage), .kept(500, boot: "")))
    }

    @Test(
        "A task is retried after a transient failure of the disk",
        arguments: [
            Status.diskFailed, .outOfResources, .storeFull, .storeUnavailable, .engineFailed, .internal,
        ])
    func nextTime(_ status: Status) {
        let failure = Failure(status, "not now")
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start, .opened(length: 500), .head(wholeOther))
        attempt.expect(.diskFailed(failure), .stopTransfer, .releaseSlot, .conclude(.again(failure), nil))
    }

    @Test("If no file descriptor is left to open the part file, the task keeps its bytes")
    func noDescriptors() {
        let failure = Failure(.outOfResources, "no descriptors")
        var attempt = DownloadScript(from: .kept(400))
        attempt.after(.start)
        attempt.expect(.diskFailed(failure), .releaseSlot, .conclude(.again(failure), .kept(400)))
    }

    @Test("If the sealed part file has a wrong length, the download starts again from byte 0")
    func wrongLength() {
        let failure = Failure(.badResponse, "another length")
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500), .head(rest), .received(count: 500), .transferComplete)
        attempt.expect(.diskFailed(failure), .discardPart)
        attempt.expect(.discarded, .conclude(.again(failure, fromZero: true), nil))
    }

    @Test("A task ends even if its part file cannot be removed")
    func cannotDiscard() {
        var attempt = DownloadScript()
        attempt.after(.start, .transferFailed(.refused, isTransient: false))
        attempt.expect(.diskFailed(.broken), .conclude(.failed(.refused), nil))
    }
}
