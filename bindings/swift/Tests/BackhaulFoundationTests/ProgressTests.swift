import BackhaulFoundation
import Foundation
import HostTestSupport
import Testing

@Suite("Progress of download tasks", .timeLimit(.minutes(10)))
struct ProgressTests {
    @Test("the progress of a running download is reported to the delegate")
    func progress() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("progress"), delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("slow"))
        task.resume()
        let messages = await recorder.messages { if case .wrote = $0 { true } else { false } }
        guard case .wrote(let identifier, let total, let expected) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        #expect(identifier == task.taskIdentifier)
        #expect(total > 0)
        #expect(expected == 1_000_000_000)
        #expect(task.progress.totalUnitCount == 1_000_000_000)
        session.invalidateAndCancel()
    }
}
