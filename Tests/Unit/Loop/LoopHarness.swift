import BackhaulLoop
import BackhaulPlatform
import Glibc

/// The object with the state of a thread that runs an event loop. It keeps the objects that the test needs on this
/// thread.
final class LoopContext {
    let loop: Loop
    var kept: [AnyObject] = []
    init(_ loop: Loop) { self.loop = loop }
}

typealias TestLoopThread = LoopThread<LoopContext>

func startLoop() throws -> TestLoopThread {
    try LoopThread(name: "test loop") { LoopContext($0) }
}

extension LoopThread where Context == LoopContext {
    /// Performs the body on the loop's thread, and returns its result.
    func ask<Value: Sendable>(_ body: @escaping @Sendable (LoopContext) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            post { context in continuation.resume(returning: body(context)) }
        }
    }

    /// Performs `body` on the loop's thread, and waits until the closure that `body` received is called. Returns the
    /// argument of that call.
    func event<Value: Sendable>(
        _ body: @escaping @Sendable (LoopContext, @escaping (Value) -> Void) -> Void
    ) async -> Value {
        await withCheckedContinuation { continuation in
            post { context in
                var waiting: CheckedContinuation<Value, Never>? = continuation
                body(context) { value in
                    waiting?.resume(returning: value)
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
