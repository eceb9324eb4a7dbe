// A test program that invalidates (ends) its session. Then it exits, or kills itself, before the last delegate call for
// its task. See RestartTests.
//
//   KilledProgram finish STORE URL   calls finishTasksAndInvalidate, then kills itself immediately
//   KilledProgram cancel STORE URL   calls invalidateAndCancel, then kills itself immediately
//   KilledProgram leave STORE URL    calls invalidateAndCancel, then exits
//   KilledProgram exit STORE URL     downloads the URL, and exits in the last delegate call for the task
//   KilledProgram twice STORE URL    makes two session objects with the same identifier, and exits
//   KilledProgram again STORE URL    the next run: lists the tasks, waits for the last calls for these tasks, and then
//                                    downloads the URL. Logs all delegate calls
import BackhaulFoundation
import Foundation
import FoundationNetworking

let command = CommandLine.arguments[1]
let url = URL(string: CommandLine.arguments[3])!

var options = BackgroundApplication.Options()
options.identifier = "org.example.killed"
options.store = CommandLine.arguments[2]
try BackgroundApplication.shared.configure(options)

let program = Program(log: CommandLine.arguments[2] + ".log")
let queue = OperationQueue()
queue.maxConcurrentOperationCount = 1
let session = BackgroundURLSession(
    configuration: .background(withIdentifier: "pictures"), delegate: program, delegateQueue: queue)
switch command {
case "again":
    let (listed, isListed) = AsyncStream<Int>.makeStream()
    session.getAllTasks { isListed.yield($0.count) }
    let count = await listed.first { _ in true } ?? 0
    for _ in 0..<count { await program.untilCompleted() }
    session.downloadTask(with: url).resume()
    await program.untilCompleted()
    exit(0)
case "exit":
    session.downloadTask(with: url).resume()
    await program.untilCompleted()
case "twice":
    _ = BackgroundURLSession(configuration: .background(withIdentifier: "pictures"), delegate: program)
    exit(0)
default:
    // No delegate call of this run begins, so the end of the task is delivered in the next run.
    queue.isSuspended = true
    session.downloadTask(with: url).resume()
    if command == "finish" { session.finishTasksAndInvalidate() } else { session.invalidateAndCancel() }
    if command == "leave" { exit(0) }
    kill(getpid(), SIGKILL)
}

final class Program: NSObject, BackgroundURLSessionDownloadDelegate {
    private let (ends, end) = AsyncStream<Void>.makeStream()
    private let path: String

    init(log: String) { path = log }

    func untilCompleted() async { await ends.first { _ in true } }

    private func log(_ line: String) {
        // Only the delegate calls of the second run are tested.
        guard command == "again" else { return }
        let file = fopen(path, "a")
        fputs(line + "\n", file)
        fclose(file)
    }

    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) { log("file of \((try? Data(contentsOf: location))?.count ?? 0) bytes") }

    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        if command == "exit" { exit(0) }
        log("completed with \((error as? URLError).map { "error \($0.code.rawValue)" } ?? "no error")")
        end.yield()
    }

    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?) {
        log("invalid with \(error.map { "\($0)" } ?? "no error")")
        // No further delegate call follows. So all waits of the program must end here.
        end.finish()
    }
}
