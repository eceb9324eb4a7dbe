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
