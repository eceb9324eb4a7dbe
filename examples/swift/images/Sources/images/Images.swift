import BackhaulURLSession
import Foundation

/// The program: its one session, and what it hears from it. It needs URLSession's delegate methods only.
@MainActor
final class Images: NSObject, BackgroundApplicationDelegate {
    let folder: Folder
    private let hears: Bool
    /// Those of sessions that wait for the program, until all is delivered.
    private var completionHandlers: [String: () -> Void] = [:]
    private var finishedRound: UInt64 = 0
    /// That something has moved; true: the session is over.
    private let (signs, sign) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Made when it is first needed, found again ever after: the same way from the button and from a launch.
    private(set) lazy var session = URLSession(
        configuration: .background(withIdentifier: "pictures"), delegate: hears ? self : nil, delegateQueue: nil)

    init(_ folder: Folder, hears: Bool) {
        self.folder = folder
        self.hears = hears
    }

    /// Says how the program is launched. In a launched one it returns when nothing is outstanding.
    func register() async throws { _ = try await BackgroundApplication.shared.handleLaunch(delegate: self) }

    // MARK: Launched

    func application(
        _ application: BackgroundApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        guard hears, identifier == session.configuration.identifier else { return completionHandler() }
        completionHandlers[identifier] = completionHandler
    }

    // MARK: The button

    /// When this returns the picture will come, whatever happens to this program.
    func handOver(_ address: String) async throws {
        let name = Folder.name(of: address)
        guard let url = URL(string: address) else { throw Refusal("\(name): this is no address") }
        if folder.pictures.contains(name) { return folder.say("\(name) is there already") }
        // Pressed twice, it is still one download.
        if await session.allTasks.contains(where: { $0.taskDescription == name }) {
            return folder.say("\(name) was handed over before")
        }
        let task = session.downloadTask(with: url)
        task.taskDescription = name
        task.resume()
        if let error = task.error { throw Refusal("\(name): \(error.localizedDescription)") }
        folder.say("handed over \(name)")
    }

    // MARK: Opened

    /// What is there and what is on its way, until all of it is there.
    func show() async {
        for name in folder.pictures { folder.print("there: \(name)") }
        for task in await session.allTasks { show(task) }
        // Its last message says that all has ended and was delivered.
        session.finishTasksAndInvalidate()
        for await isOver in signs {
            if isOver { return sayFinishedRound() }
            for task in await session.allTasks { show(task) }
        }
    }

    private func sayFinishedRound() {
        guard session.finishedRound > finishedRound else { return }
        finishedRound = session.finishedRound
        folder.say("round \(finishedRound) finished")
    }

    private func show(_ task: URLSessionTask) {
        let expected = task.countOfBytesExpectedToReceive
        let percent = expected > 0 ? " \(task.countOfBytesReceived * 100 / expected) %" : ""
        folder.print("on its way: \(task.taskDescription ?? "picture")\(percent)")
    }
}

/// Why a picture was not handed over.
struct Refusal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// What the session tells, on its own queue: the only place that knows how a download ended.
extension Images: URLSessionDownloadDelegate {
    nonisolated func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let name = downloadTask.taskDescription ?? location.lastPathComponent
        do {
            try folder.keep(location, as: name)
            folder.say("\(name) is there, \(downloadTask.countOfBytesReceived) bytes")
        } catch {
            folder.say("\(name) cannot be kept: \(error.localizedDescription)")
        }
    }

    nonisolated func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { sign.yield(false) }

    nonisolated func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            folder.say("\(task.taskDescription ?? "a picture") does not come: \(error.localizedDescription)")
        }
        sign.yield(false)
    }

    nonisolated func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        Task { @MainActor in
            sayFinishedRound()
            guard let handler = completionHandlers.removeValue(forKey: session.configuration.identifier ?? "") else {
                return
            }
            folder.say("nothing is outstanding")
            handler()
        }
    }

    nonisolated func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        sign.yield(true)
    }
}
