// A test program that invalidates (ends) its session. Then it exits, or kills itself, before the last delegate call for
// its task. See RestartTests.
//
//   KilledProgram finish STORE URL   calls finishTasksAndInvalidate, then kills itself immediately
//   KilledProgram cancel STORE URL   calls invalidateAndCancel, then kills itself immediately
//   KilledProgram leave STORE URL    calls invalidateAndCancel, then exits
//   KilledProgram again STORE URL    the next run: waits for the last call for the first task, then downloads the URL.
//                                    Logs all delegate calls
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
let session = BackgroundURLSession(
    configuration: .background(withIdentifier: "pictures"), delegate: program, delegateQueue: nil)
if command == "again" {
    program.ended.wait()
    session.downloadTask(with: url).resume()
    program.ended.wait()
    exit(0)
}
session.downloadTask(with: url).resume()
if command == "finish" { session.finishTasksAndInvalidate() } else { session.invalidateAndCancel() }
if command == "leave" { exit(0) }
kill(getpid(), SIGKILL)

final class Program: NSObject, BackgroundURLSessionDownloadDelegate {
    let ended = DispatchSemaphore(value: 0)
    private let path: String

    init(log: String) { path = log }

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
        // The first run does not return from this delegate call. Therefore, the end of the task is not acknowledged,
        // and the library delivers it again in the second run.
        if command != "again" { while true { sleep(60) } }
        log("completed with \((error as? URLError).map { "error \($0.code.rawValue)" } ?? "no error")")
        ended.signal()
    }

    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?) {
        log("invalid with \(error.map { "\($0)" } ?? "no error")")
        // No further delegate call follows. So both waits of the main thread must end here.
        for _ in 0..<2 { ended.signal() }
    }
}
