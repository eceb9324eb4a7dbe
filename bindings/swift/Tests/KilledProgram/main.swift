// A program that ends its session, and dies before it has heard of its task. See RestartTests.
//
//   KilledProgram finish STORE URL   finishTasksAndInvalidate, then killed at once
//   KilledProgram cancel STORE URL   invalidateAndCancel, then killed at once
//   KilledProgram leave STORE URL    invalidateAndCancel, then ends by itself
//   KilledProgram again STORE URL    the next start: hears of the first task, then fetches the URL, and writes it down
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
        // What the killed run may hear in its last moments is not the subject.
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
        // Not returned from, and so not acknowledged, before the kill.
        if command != "again" { while true { sleep(60) } }
        log("completed with \((error as? URLError).map { "error \($0.code.rawValue)" } ?? "no error")")
        ended.signal()
    }

    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?) {
        log("invalid with \(error.map { "\($0)" } ?? "no error")")
        // Nothing more will come.
        for _ in 0..<2 { ended.signal() }
    }
}
