import BackhaulURLSession
import Foundation

/// The program with its one session. It uses only URLSession's delegate methods.
@MainActor
final class Images: NSObject, BackgroundApplicationDelegate {
    let folder: Folder
    private let receivesEvents: Bool
    /// The completion handlers of the sessions for which the program was launched. A handler is removed when all events
    /// of its session are delivered.
    private var completionHandlers: [String: () -> Void] = [:]
    private var finishedRound: UInt64 = 0
    /// Yields a value when the downloads have changed. The value is true if the session has become invalid.
    private let (signs, sign) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Creates the session in the first run, and attaches to it in later runs.
    private(set) lazy var session = URLSession(
        configuration: .background(
            withIdentifier: "pictures"), delegate: receivesEvents ? self : nil, delegateQueue: nil)

    init(_ folder: Folder, receivesEvents: Bool) {
        self.folder = folder
        self.receivesEvents = receivesEvents
    }

    /// Registers the launch command. In a launched program, the method returns after all events are handled.
    func register() async throws { _ = try await BackgroundApplication.shared.handleLaunch(delegate: self) }

    // MARK: Launched

    func application(
        _ application: BackgroundApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        guard receivesEvents, identifier == session.configuration.identifier else { return completionHandler() }
        completionHandlers[identifier] = completionHandler
    }

    // MARK: Enqueue

    /// Enqueues a download. When this method returns, the task is stored: it survives the end of this program.
    func enqueueDownload(_ address: String) async throws {
        let name = Folder.name(of: address)
        guard let url = URL(string: address) else { throw Refusal("\(name): this is no address") }
        if folder.pictures.contains(name) { return folder.report("\(name) exists already") }
        // If the picture was enqueued before, no second download is made.
        if await session.allTasks.contains(where: { $0.taskDescription == name }) {
            return folder.report("\(name) was enqueued before")
        }
        let task = session.downloadTask(with: url)
        task.taskDescription = name
        task.resume()
        if let error = task.error { throw Refusal("\(name): \(error.localizedDescription)") }
        folder.report("enqueued \(name)")
    }

    // MARK: When the user opens the program

    /// Shows complete pictures and running downloads, until all downloads are complete.
    func show() async {
        for name in folder.pictures { folder.print("there: \(name)") }
        for task in await session.allTasks { show(task) }
        // When all tasks have ended and all events are delivered, the session makes its last delegate call.
        session.finishTasksAndInvalidate()
        for await isOver in signs {
            if isOver { return sayFinishedRound() }
            for task in await session.allTasks { show(task) }
        }
    }

    private func sayFinishedRound() {
        guard session.finishedRound > finishedRound else { return }
        finishedRound = session.finishedRound
        folder.report("round \(finishedRound) finished")
    }

    private func show(_ task: URLSessionTask) {
        let expected = task.countOfBytesExpectedToReceive
        let percent = expected > 0 ? " \(task.countOfBytesReceived * 100 / expected) %" : ""
        folder.print("on its way: \(task.taskDescription ?? "picture")\(percent)")
    }
}

/// The reason why a picture was not enqueued.
struct Refusal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The methods that the session calls on its delegate queue. They report how downloads ended.
extension Images: URLSessionDownloadDelegate {
    nonisolated func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let name = downloadTask.taskDescription ?? location.lastPathComponent
        do {
            try folder.keep(location, as: name)
            folder.report("\(name) is there, \(downloadTask.countOfBytesReceived) bytes")
        } catch {
            folder.report("\(name) cannot be kept: \(error.localizedDescription)")
        }
    }

    nonisolated func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { sign.yield(false) }

    nonisolated func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            folder.report("\(task.taskDescription ?? "a picture") does not come: \(error.localizedDescription)")
        }
        sign.yield(false)
    }

    nonisolated func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        Task { @MainActor in
            sayFinishedRound()
            guard let handler = completionHandlers.removeValue(forKey: session.configuration.identifier ?? "") else {
                return
            }
            folder.report("no event is outstanding")
            handler()
        }
    }

    nonisolated func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        sign.yield(true)
    }
}
