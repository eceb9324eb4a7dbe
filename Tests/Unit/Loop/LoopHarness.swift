import BackhaulLoop
import BackhaulPlatform
import Glibc

/// A context for tests: whatever they keep on the loop's thread.
final class Desk {
    let loop: Loop
    var kept: [AnyObject] = []
    init(_ loop: Loop) { self.loop = loop }
}

typealias DeskThread = LoopThread<Desk>

func startLoop(broken: @escaping @Sendable (Desk) -> Void = { _ in }) throws -> DeskThread {
    try LoopThread(name: "test loop", make: { Desk($0) }, broken: broken)
}

extension LoopThread where Context == Desk {
    /// Performs the body on the loop's thread and hands back what it returned.
    func ask<Answer: Sendable>(_ body: @escaping @Sendable (Desk) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            post { desk in continuation.resume(returning: body(desk)) }
        }
    }

    /// Waits until `body` calls the closure it is given.
    func event<Answer: Sendable>(
        _ body: @escaping @Sendable (Desk, @escaping (Answer) -> Void) -> Void
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            post { desk in
                var waiting: CheckedContinuation<Answer, Never>? = continuation
                body(desk) { answer in
                    waiting?.resume(returning: answer)
                    waiting = nil
                }
            }
        }
    }
}

/// Both ends of a socket pair.
struct SocketPair: Sendable {
    let near: Int32
    let far: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        (near, far) = (ends[0], ends[1])
    }

    func send() {
        var byte: UInt8 = 1
        write(far, &byte, 1)
    }

    func close() {
        Glibc.close(near)
        Glibc.close(far)
    }
}
