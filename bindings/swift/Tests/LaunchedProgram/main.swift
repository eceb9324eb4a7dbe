// A test program. The *engine*, which performs the transfers, starts (launches) this program when the program's session
// needs it. The program logs its delegate calls. See LaunchedProgramTests.
//
//   LaunchedProgram get FOLDER URL SECOND   enqueues the first download and exits immediately
//   LaunchedProgram launched FOLDER SECOND  the launch command. After the first download has ended, enqueues the second
//                                           download. If SECOND is "nothing", enqueues no second download
//   LaunchedProgram schedule FOLDER nothing schedules an activity and exits immediately
//   LaunchedProgram sweep FOLDER nothing    the launch command for the activity
import BackhaulFoundation
import Foundation
import FoundationNetworking

let (command, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])
let second = CommandLine.arguments[CommandLine.arguments.count - 1]

var options = BackgroundApplication.Options()
options.identifier = "org.example.launched"
options.store = folder + "/store"
let isActivity = command == "schedule" || command == "sweep"
options.launch.arguments = [isActivity ? "sweep" : "launched", folder, second]
try BackgroundApplication.shared.configure(options)

let program = Program(folder: folder)
let scheduler = BackgroundActivityScheduler(identifier: "sweep")
if isActivity {
    if command == "sweep" { program.log("launched") }
    scheduler.interval = 1
    scheduler.qualityOfService = .userInitiated
    scheduler.schedule { completion in
        // The run with the command `schedule` exits before the activity is due.
        if command == "sweep" { program.log("swept") }
        completion(.finished)
    }
    program.log(scheduler.error.map { "\($0)" } ?? "scheduled")
    let wasLaunched = try BackgroundApplication.shared.handleLaunch(delegate: program)
    if wasLaunched { program.log("left") }
    exit(0)
}
if command == "get" {
    _ = try BackgroundApplication.shared.handleLaunch(delegate: program)
    program.session(delegate: nil).downloadTask(with: URL(string: CommandLine.arguments[3])!).resume()
    exit(0)
}
program.log("launched")
_ = try BackgroundApplication.shared.handleLaunch(delegate: program)
if program.isFirstRound && second != "nothing" { program.handOverAgain(second) }
program.log("left")

@MainActor
final class Program: NSObject, BackgroundApplicationDelegate {
    private let path: String
    private var handler: (() -> Void)?
    private var running: BackgroundURLSession?
    /// Whether the session has finished only its first round. A round ends when all tasks of the session have ended.
    /// The first round downloads the first file.
    private(set) var isFirstRound = false

    init(folder: String) { path = folder + "/log" }

    nonisolated func log(_ line: String) {
        let file = fopen(path, "a")
        fputs(line + "\n", file)
        fclose(file)
    }

    func session(delegate: Program?) -> BackgroundURLSession {
        BackgroundURLSession(
            configuration: .background(withIdentifier: "pictures"), delegate: delegate, delegateQueue: nil)
    }

    func application(
        _ application: BackgroundApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        log("called for \(identifier)")
        handler = completionHandler
        running = session(delegate: self)
        // Even if this thread does not run for some time, no other delegate method is called before this one returns.
        usleep(300_000)
        log("has the session")
    }

    func call() {
        isFirstRound = running?.finishedRound == 1
        handler?()
        handler?()
    }

    /// Checks two things after the completion: the session object is invalid, and a new object with the same identifier
    /// works immediately.
    func handOverAgain(_ address: String) {
        let late = running?.downloadTask(with: URL(string: address)!)
        late?.resume()
        log("the old session's task: \(late?.error == nil ? "taken" : "refused")")
        let next = session(delegate: nil)
        let task = next.downloadTask(with: URL(string: address)!)
        task.resume()
        log("the new session's task: \(task.error == nil ? "taken" : "refused")")
    }
}

extension Program: BackgroundURLSessionDownloadDelegate {
    nonisolated func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) { log("file of \((try? Data(contentsOf: location))?.count ?? 0) bytes") }

    nonisolated func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?
    ) { log("completed with \(error == nil ? "no error" : "an error")") }

    nonisolated func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        log("asked for the \(challenge.protectionSpace.realm ?? "")")
        completionHandler(
            .useCredential, URLCredential(user: "eve", password: "opensesame", persistence: .none))
    }

    nonisolated func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {
        log("all is delivered")
        DispatchQueue.main.async { MainActor.assumeIsolated { self.call() } }
    }

    nonisolated func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?) {
        log("invalid with \(error == nil ? "no error" : "an error")")
    }
}
