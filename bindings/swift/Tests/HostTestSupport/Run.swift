import Dispatch
import Foundation

/// Runs a program, and returns its exit status. The call waits on a separate thread, because other tests need Swift's
/// few cooperative threads.
public func run(_ program: String, _ arguments: [String]) async throws -> Int32 {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try runAndWait(program, arguments) }) }
    }
}

/// Uses posix_spawn, because Foundation's `Process` may wait forever if many processes are started at the same time.
private func runAndWait(_ program: String, _ arguments: [String]) throws -> Int32 {
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { word in strdup(word) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var process = pid_t()
    guard posix_spawn(&process, program, nil, nil, &words, environ) == 0 else { throw CocoaError(.executableLoad) }
    var status: Int32 = 0
    guard waitpid(process, &status, 0) == process else { throw CocoaError(.executableLoad) }
    // If the program has exited, its exit status is in the second byte (wait(2)). Otherwise a signal ended it.
    return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
}
