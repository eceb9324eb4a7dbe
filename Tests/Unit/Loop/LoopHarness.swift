import BackhaulLoop
import BackhaulPlatform
import Glibc

/// The context of a test's loop thread, with the objects that the test keeps there.
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
    /// Performs the body on the loop's thread, and returns its result.
    func ask<Answer: Sendable>(_ body: @escaping @Sendable (Desk) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            post { desk in continuation.resume(returning: body(desk)) }
        }
    }

    /// Performs `body` on the loop's thread, and waits until it calls the closure that it gets.
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
