import Backhaul
import Testing

@testable import backhaul

/// What `backhaul desktop` shows of the transfers of a session.
@Suite struct DesktopTests {
    private func progress(_ readings: [TransferRow]...) -> RoundProgress {
        var progress = RoundProgress()
        for rows in readings { progress.update(rows, round: 0) { $0 } }
        return progress
    }

    @Test("the progress of a round has the transfers whose ends were acknowledged")
    func acknowledged() {
        let job = progress(
            [row(1, done: 10, total: 100), row(2, done: 0, total: 300), row(3, .waiting, .slot, total: 600)],
            [row(2, done: 150, total: 300, rate: 50), row(3, .waiting, .slot, total: 600)]
        ).job(isSuspended: false)
        #expect((job.processedFiles, job.totalFiles) == (1, 3))
        #expect((job.processedBytes, job.totalBytes) == (250, 1000))
        #expect(job.bytesPerSecond == 50 && job.share == 0.25 && job.title == "Downloading")
    }

    @Test("if a size is not known, the share is that of the files")
    func unknownSizes() {
        let job = progress([row(1, .succeeded, done: 10, total: 10), row(2, done: 900)]).job(isSuspended: false)
        #expect(job.totalBytes == nil && job.share == 0.5)
    }

    @Test("a failed transfer counts as processed with the bytes that it has")
    func failed() {
        let job = progress([row(1, .failed, error: "404", done: 20, total: 100), row(2, done: 20, total: 80)])
            .job(isSuspended: false)
        #expect((job.processedBytes, job.totalBytes, job.processedFiles) == (40, 100, 1))
    }

    @Test("a job lasts while a transfer runs, or waits for a slot or a retry, and not while it waits for a condition")
    func activity() {
        for reason in [Reason.slot, .retry, .origin] { #expect(progress([row(1, .waiting, reason)]).isActive) }
        for reason in [Reason.credential, .metered, .earliestStart] {
            #expect(!progress([row(1, .waiting, reason)]).isActive)
        }
        #expect(!progress([row(1, .suspended, .suspended)]).isActive)
        #expect(progress([row(1, .suspended, .suspended)]).hasSuspended)
    }

    @Test("a suspended job has no rate, and keeps the file that ran last")
    func suspended() {
        let job = progress([row(1, name: "a.iso", done: 1, rate: 9)], [row(1, .suspended, name: "a.iso", done: 1)])
            .job(isSuspended: true)
        #expect(job.isSuspended && job.bytesPerSecond == 0 && job.place == "a.iso from example.org")
    }

    /// The rounds that end with these listings of one session.
    private func ended(_ listings: (round: UInt64, live: UInt64)...) -> [ClosedRange<UInt64>?] {
        var rounds = EndedRounds()
        return listings.map { rounds.begin(round: $0.round, liveTasks: $0.live, lowest: nil, since: 0)?.rounds }
    }

    @Test("each round that has ended is reported once")
    func endedRounds() {
        #expect(ended((0, 0), (1, 1), (1, 0), (1, 0)) == [nil, nil, 1...1, nil])
        #expect(ended((3, 2), (3, 0), (6, 1), (6, 0)) == [nil, 3...3, 4...5, 6...6])
        // The last round of a session that is new to the command may have ended since the start of the command.
        #expect(ended((3, 0), (3, 0), (4, 0)) == [3...3, nil, 4...4])
    }

    @Test("the result of a round has each ended transfer of the round once")
    func endedTransfers() throws {
        var rounds = EndedRounds()
        let running = rounds.begin(round: 1, liveTasks: 3, lowest: 1, since: 0)
        #expect(running == nil)
        let ended = rounds.begin(round: 1, liveTasks: 0, lowest: nil, since: 0)
        var found = try #require(ended)
        found.count([
            task(nil, state: .succeeded, id: 1, round: 1), task(nil, state: .failed, id: 2, round: 1),
            task(nil, state: .cancelled, id: 3, round: 1), task(.slot, id: 4, round: 2),
        ])
        found.count([task(nil, state: .succeeded, id: 1, round: 1)])
        #expect(found.result.counts == "1 file downloaded, 1 transfer failed")
        rounds.end(found)
        // The next reading begins after these transfers, or before one of them that was resumed.
        let next = rounds.begin(round: 2, liveTasks: 0, lowest: nil, since: 0)
        let resumed = rounds.begin(round: 3, liveTasks: 0, lowest: 2, since: 0)
        #expect((next?.after, resumed?.after) == (3, 1))
    }

    @Test("of a session that is new to the command, transfers that ended before its start do not count")
    func endedBefore() throws {
        for (start, isEmpty) in [(evening, true), (evening - 2 * hour, false)] {
            var rounds = EndedRounds()
            let ended = rounds.begin(round: 1, liveTasks: 0, lowest: nil, since: start)
            var found = try #require(ended)
            found.count([task(nil, state: .succeeded, id: 1, round: 1)])
            #expect(found.result.isEmpty == isEmpty)
        }
    }

    @Test("a new round begins with no file")
    func rounds() {
        var progress = progress([row(1, .succeeded, done: 10, total: 10)])
        progress.update([], round: 1) { $0 }
        #expect(progress.job(isSuspended: false).totalFiles == 0)
    }

    @Test("a result counts files and failures, and not what the user has cancelled")
    func results() {
        var result = RoundResult()
        for row in [row(1, .succeeded), row(2, .succeeded), row(3, .cancelled)] { result.add(row.task) }
        #expect(result.counts == "2 files downloaded" && result.details.isEmpty)
        result.add(row(4, .failed, name: "b.iso", error: "404").task)
        #expect(result.counts == "2 files downloaded, 1 transfer failed")
        #expect(result.details == ["Failed: b.iso from example.org"])
        var cancelled = RoundResult()
        cancelled.add(row(1, .cancelled).task)
        #expect(cancelled.isEmpty)
    }

    @Test("a file has an URL with its special bytes escaped")
    func fileURLs() {
        #expect(DesktopObserver.fileURL(of: "/home/é a#?%") == "file:///home/%c3%a9%20a%23%3f%25")
    }

    @Test("text in a body with markup has no markup")
    func markup() {
        #expect(Notifier<Int>.escaped("<b>&amp;</b>") == "&lt;b&gt;&amp;amp;&lt;/b&gt;")
    }
}
