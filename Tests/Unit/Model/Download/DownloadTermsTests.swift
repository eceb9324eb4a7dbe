import BackhaulModel
import Testing

@Suite("Checksum, size and other terms of a download")
struct DownloadTermsTests {
    private let right = Checksum(.sha256, [UInt8](repeating: 1, count: 32))
    private let wrong = Checksum(.sha256, [UInt8](repeating: 2, count: 32))

    private func terms(_ change: (inout DownloadTerms) -> Void) -> DownloadTerms {
        var terms = DownloadTerms()
        change(&terms)
        return terms
    }

    private func conclusion(
        _ attempt: inout DownloadScript, _ event: DownloadMachine.Event
    ) -> DownloadMachine.Conclusion? {
        for action in attempt.handle(event) { if case .conclude(let conclusion, _) = action { return conclusion } }
        return nil
    }

    // MARK: Digests

    @Test("the digest covers all bytes of a download, and is compared before the finish intent is recorded")
    func checksum() {
        var attempt = DownloadScript(terms: terms { $0.checksum = right })
        attempt.after(.start)
        attempt.expect(.head(whole), .hash(.sha256))
        attempt.after(.received(count: 1_000))
        attempt.expect(.transferComplete, .releaseSlot, .seal(size: 1_000))
        attempt.expect(.sealed(.sealed, right), .recordIntent(.sealed))
        #expect(attempt.machine.checksum == right)
    }

    @Test("with a digest in the request, a download without a validator resumes, and its request has no If-Range")
    func resumedByDigest() {
        for tag in [nil, "\"a\""] {
            var attempt = DownloadScript(from: .kept(400, tag: tag), terms: terms { $0.checksum = right })
            attempt.after(.start)
            attempt.expect(.opened(length: 500), .startTransfer(offset: 500, ifRange: nil))
        }
        var attempt = DownloadScript(terms: terms { $0.checksum = right })
        attempt.after(.start, .head(unvalidated), .received(count: 100), .appended(length: 100))
        attempt.expect(.transferFailed(.lost, isTransient: true), .releaseSlot, .sync)
    }

    @Test("caches are asked for a fresh copy after a wrong copy, and not before")
    func caches() {
        #expect(!DownloadScript(from: .kept(400)).machine.bypassesCaches)
        #expect(DownloadScript(from: .kept(0, boot: "")).machine.bypassesCaches)
        #expect(DownloadScript(terms: terms { $0.hadMismatch = true }).machine.bypassesCaches)
    }

    @Test("a download restarts after one wrong digest, and fails with a checksum mismatch after the second")
    func mismatch() {
        var attempt = DownloadScript(terms: terms { $0.checksum = right })
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.expect(.sealed(.sealed, wrong), .discardPart)
        guard case .retry(let failure, _, _, fromZero: true)? = conclusion(&attempt, .discarded) else {
            Issue.record("the download is not retried from zero")
            return
        }
        #expect(failure.status == .checksumMismatch)
        #expect(failure.message.contains(right.text) && failure.message.contains(wrong.text))

        attempt = DownloadScript(terms: terms { ($0.checksum, $0.hadMismatch) = (right, true) })
        attempt.after(.start, .head(whole), .received(count: 1_000), .transferComplete)
        attempt.expect(.sealed(.sealed, wrong), .discardPart)
        #expect(conclusion(&attempt, .discarded) == .failed(failure))
    }

    @Test("after a crash, a complete part file is hashed again before it is sealed")
    func afterCrash() {
        var attempt = DownloadScript(from: .kept(1_000), terms: terms { $0.checksum = right })
        attempt.after(.start)
        attempt.expect(.opened(length: 1_000), .hash(.sha256), .releaseSlot, .seal(size: 1_000))
    }

    @Test("the bytes of an earlier attempt are hashed only if the response continues the part file")
    func resumed() {
        var attempt = DownloadScript(from: .kept(500), terms: terms { $0.checksum = right })
        attempt.after(.start)
        attempt.expect(.opened(length: 500), .startTransfer(offset: 500, ifRange: nil))
        attempt.expect(.head(rest), .hash(.sha256))
        attempt = DownloadScript(from: .kept(500), terms: terms { $0.checksum = right })
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(wholeOther), .forgetCheckpoint)
        attempt.expect(.forgotten, .restartPart, .hash(.sha256), .resumeTransfer)
    }

    private static let zeros = String(repeating: "A", count: 43) + "="
    private let announced = head(
        200, "Content-Length: 1000", "ETag: \"a\"", "Repr-Digest: sha-256=:\(zeros):")
    private let zero = Checksum(.sha256, [UInt8](repeating: 0, count: 32))

    @Test("a digest from the server is stored in the checkpoint, and is compared with the file even after a crash")
    func serversDigest() {
        var attempt = DownloadScript()
        attempt.after(.start)
        attempt.expect(.head(announced), .hash(.sha256))
        attempt.after(.received(count: 70), .transferFailed(.lost, isTransient: true), .appended(length: 70))
        attempt.after(.synced(length: 70))
        #expect(attempt.machine.checkpoint?.facts.digest == zero)
        var kept = Checkpoint.kept(1_000)
        kept.facts.digest = zero
        attempt = DownloadScript(from: kept)
        attempt.after(.start)
        attempt.expect(.opened(length: 1_000), .hash(.sha256), .releaseSlot, .seal(size: 1_000))
        attempt.expect(.sealed(.sealed, wrong), .discardPart)
    }

    @Test("a range is not appended to the part file if its digest or content coding differs from that of the part file")
    func otherRepresentation() {
        var kept = Checkpoint.kept(500)
        kept.facts = RepresentationMetadata(digest: wrong, contentEncoding: "gzip")
        let range = "Content-Range: bytes 500-999/1000"
        let responses = [
            head(206, range, "ETag: \"a\"", "Content-Encoding: br"),
            head(206, range, "ETag: \"a\"", "Repr-Digest: sha-256=:\(Self.zeros):"),
        ]
        for response in responses {
            var attempt = DownloadScript(from: kept)
            attempt.after(.start, .opened(length: 500))
            attempt.expect(.head(response), .stopTransfer, .releaseSlot, .discardPart)
        }
        for lines in [["Content-Encoding: GZIP"], []] {
            var attempt = DownloadScript(from: kept)
            attempt.after(.start, .opened(length: 500))
            attempt.expect(.head(head(206, lines: [range, "ETag: \"a\""] + lines)), .hash(.sha256))
        }
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(
            .head(head(206, range, "ETag: \"a\"", "Content-Encoding: gzip")), .stopTransfer, .releaseSlot, .discardPart)
    }

    // MARK: Sizes

    @Test("if the head, the body or the end of a response shows a wrong size, the download starts again")
    func size() {
        let wanted = terms { $0.expectedSize = 900 }
        var attempt = DownloadScript(terms: wanted)
        attempt.after(.start)
        attempt.expect(.head(whole), .stopTransfer, .releaseSlot, .discardPart)
        guard case .retry(let failure, _, _, fromZero: true)? = conclusion(&attempt, .discarded) else {
            Issue.record("the download is not retried from zero")
            return
        }
        #expect(failure.status == .sizeMismatch)
        attempt = DownloadScript(limits: .wide, terms: wanted)
        attempt.after(.start, .head(endless), .received(count: 900))
        attempt.expect(.received(count: 1), .stopTransfer, .releaseSlot, .discardPart)
        attempt = DownloadScript(limits: .wide, terms: wanted)
        attempt.after(.start, .head(endless), .received(count: 899))
        attempt.expect(.transferComplete, .releaseSlot, .discardPart)
        attempt = DownloadScript(limits: .wide, terms: wanted)
        attempt.after(.start, .head(endless), .received(count: 900))
        attempt.expect(.transferComplete, .releaseSlot, .seal(size: 900))
    }

    @Test("if the size is wrong a second time, the task ends")
    func sizeAgain() {
        var attempt = DownloadScript(terms: terms { ($0.expectedSize, $0.hadMismatch) = (900, true) })
        attempt.after(.start)
        // The transfer stops at once. The rest of a body is read only after an error status, and this status is 200.
        attempt.expect(.head(whole), .stopTransfer, .releaseSlot, .discardPart)
        guard case .failed(let failure)? = conclusion(&attempt, .discarded) else {
            Issue.record("the task has not failed")
            return
        }
        #expect(failure.status == .sizeMismatch)
    }

    @Test("a file that is too large is not downloaded, and a file of unknown length is downloaded up to the limit")
    func maximum() {
        let wanted = terms { $0.maximumSize = 900 }
        var attempt = DownloadScript(terms: wanted)
        attempt.after(.start)
        attempt.expect(.head(whole), .stopTransfer, .releaseSlot, .discardPart)
        guard case .failed(let failure)? = conclusion(&attempt, .discarded) else {
            Issue.record("the task has not failed")
            return
        }
        #expect(failure.status == .tooLarge)
        attempt = DownloadScript(limits: .wide, terms: wanted)
        attempt.after(.start, .head(endless), .received(count: 900))
        attempt.expect(.received(count: 1), .stopTransfer, .releaseSlot, .discardPart)
    }

    // MARK: An existing file

    @Test("a task that skips existing files sends no request if an existing file has the right checksum and size")
    func skips() {
        var attempt = DownloadScript(
            terms: terms { ($0.skipsExisting, $0.checksum, $0.expectedSize) = (true, right, 7) })
        attempt.expect(.start, .checkDestinationFile(size: 7, .sha256))
        attempt.expect(.destinationFileChecked(DestinationFile(size: 7, checksum: right)), .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.succeeded, nil))
        #expect(attempt.machine.checksum == right && attempt.machine.size == 7)
    }

    @Test(
        "a task that skips existing files sends a request if an existing file's checksum or size is different",
        arguments: [
            nil,
            DestinationFile(
                size: 7, checksum: Checksum(.sha256, [9])), DestinationFile(size: 7), DestinationFile(size: 8),
        ])
    func doesNotSkip(_ found: DestinationFile?) {
        var attempt = DownloadScript(
            terms: terms { ($0.skipsExisting, $0.checksum, $0.expectedSize) = (true, right, 7) })
        attempt.after(.start)
        attempt.expect(.destinationFileChecked(found), .startTransfer(offset: 0, ifRange: nil))
    }

    // MARK: Only if changed

    @Test("if a representation is known, the request has a condition, and a 304 response leaves the file unchanged")
    func unchanged() {
        var attempt = DownloadScript(terms: terms { $0.isOnlyIfChanged = true })
        attempt.expect(.start, .findKnownRepresentation)
        attempt.expect(.knownRepresentationFound(.known), .startTransfer(offset: 0, ifRange: nil, condition: .known))
        attempt.expect(.head(head(304)), .recheckDestinationFile(.known))
        attempt.expect(.transferComplete)
        attempt.expect(.destinationFileRechecked(isSame: true), .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.succeeded, nil))
        #expect(attempt.machine.isUnchanged && attempt.machine.size == 1_000)
    }

    @Test("if no representation is known, the request has no condition, and a 304 response is an error")
    func nothingKnown() {
        var attempt = DownloadScript(terms: terms { $0.isOnlyIfChanged = true })
        attempt.after(.start)
        attempt.expect(.knownRepresentationFound(nil), .startTransfer(offset: 0, ifRange: nil))
        attempt.expect(.head(head(304)))
        attempt.expect(.transferComplete, .releaseSlot, .discardPart)
    }

    @Test("if the request has a checksum, or another size than the existing file, it has no condition")
    func unverified() {
        var attempt = DownloadScript(
            terms: terms {
                $0.isOnlyIfChanged = true
                $0.checksum = right
            })
        attempt.expect(.start, .startTransfer(offset: 0, ifRange: nil))
        for (size, condition) in [(1_000, KnownRepresentation.known), (999, nil)] as [(UInt64, KnownRepresentation?)] {
            attempt = DownloadScript(
                terms: terms {
                    $0.isOnlyIfChanged = true
                    $0.expectedSize = size
                })
            attempt.after(.start)
            attempt.expect(
                .knownRepresentationFound(.known), .startTransfer(offset: 0, ifRange: nil, condition: condition))
        }
    }

    @Test("if the existing file changed, or a 304 is for another URL, the request is repeated without a condition")
    func changedMeanwhile() {
        var attempt = DownloadScript(terms: terms { $0.isOnlyIfChanged = true })
        attempt.after(.start, .knownRepresentationFound(.known), .head(head(304)))
        attempt.expect(.destinationFileRechecked(isSame: false), .stopTransfer, .startTransfer(offset: 0, ifRange: nil))
        attempt.expect(.head(whole))
        attempt = DownloadScript(terms: terms { $0.isOnlyIfChanged = true })
        attempt.after(.start, .knownRepresentationFound(.known))
        attempt.expect(
            .head(head(304, url: "https://example.net/other")), .stopTransfer, .startTransfer(offset: 0, ifRange: nil))
    }

    @Test("a part file is resumed without a check of the file at the destination")
    func partOfNewer() {
        var attempt = DownloadScript(from: .kept(500), terms: terms { $0.isOnlyIfChanged = true })
        attempt.after(.start)
        attempt.expect(.opened(length: 500), .startTransfer(offset: 500, ifRange: "\"a\""))
    }

    // MARK: Names and space

    @Test("a file name from the server is reserved before the body arrives, and recorded in the finish intent")
    func named() {
        var attempt = DownloadScript(terms: terms { $0.isNamedByServer = true })
        attempt.after(.start)
        attempt.expect(
            .head(head(200, "Content-Length: 1000", "Content-Disposition: attachment; filename=x")), .reserveName("x"))
        #expect(!attempt.machine.wantsBytes)
        attempt.expect(.nameReserved("x (1)"), .resumeTransfer)
        #expect(attempt.machine.wantsBytes)
        attempt.after(.received(count: 1_000), .transferComplete)
        var intent = FinishIntent.sealed
        intent.name = "x (1)"
        attempt.expect(.sealed(.sealed), .recordIntent(intent))
        #expect(attempt.machine.fileName == "x (1)")
        intent.name = "x"
        #expect(DownloadScript(intent: intent, terms: terms { $0.isNamedByServer = true }).machine.fileName == "x")
    }

    @Test("a body that ends before its name is reserved is sealed with the reserved name")
    func lateName() {
        var attempt = DownloadScript(terms: terms { $0.isNamedByServer = true })
        attempt.after(.start)
        attempt.expect(
            .head(head(200, "Content-Length: 9", "Content-Disposition: attachment; filename=x")), .reserveName("x"))
        attempt.after(.received(count: 9))
        attempt.expect(.transferComplete)
        attempt.expect(.nameReserved("x"), .releaseSlot, .seal(size: 9))
    }

    @Test("a resumed file has its reserved name checked again, and keeps its bytes if the transfer breaks meanwhile")
    func resumedName() {
        var kept = Checkpoint.kept(500)
        kept.facts.name = "x (1)"
        var attempt = DownloadScript(from: kept, terms: terms { $0.isNamedByServer = true })
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.head(rest), .reserveName("x (1)"))
        attempt.after(.transferFailed(.lost, isTransient: true))
        #expect(attempt.machine.phase == .concluding && attempt.machine.checkpoint == kept)
    }

    @Test("free space is checked before a large file is written, and before the next attempt after a full disk")
    func space() {
        var limits = DownloadMachine.BufferLimits.small
        limits.spaceCheck = 500
        var attempt = DownloadScript(limits: limits)
        attempt.after(.start)
        attempt.expect(.head(whole), .checkSpace(missing: 1_000, size: 1_000, replacesPart: true))
        attempt.expect(.spaceChecked)
        attempt = DownloadScript(terms: terms { $0.neededSpace = 1_000 })
        attempt.expect(.start, .checkSpace(missing: 1_000, size: nil, replacesPart: true))
        attempt.expect(.spaceChecked, .startTransfer(offset: 0, ifRange: nil))
        attempt = DownloadScript(terms: terms { $0.neededSpace = 1_000 })
        attempt.after(.start)
        attempt.expect(.diskFailed(.full), .releaseSlot, .conclude(.again(.full, reason: .diskFull), nil))
    }

    @Test("a task fails if its file is larger than the file system")
    func impossibleSpace() {
        var limits = DownloadMachine.BufferLimits.small
        limits.spaceCheck = 500
        let tooLarge = Failure(.tooLarge, "larger than the file system")
        var attempt = DownloadScript(limits: limits)
        attempt.after(.start, .head(whole))
        attempt.expect(.diskFailed(tooLarge), .stopTransfer, .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(tooLarge), nil))
        attempt = DownloadScript(from: .kept(500), terms: terms { $0.neededSpace = 500 })
        attempt.expect(.start, .checkSpace(missing: 500, size: 1_000, replacesPart: false))
        attempt.expect(.diskFailed(tooLarge), .releaseSlot, .discardPart)
        attempt.expect(.discarded, .conclude(.failed(tooLarge), nil))
    }
}
