import FuzzCalls
import Glibc

/// The functions of include/backhaul.h, called in any order with legal and illegal arguments.
enum Calls {
    /// The bytes choose the calls of three threads and the arguments of each call.
    @Sendable static func check(_ bytes: [UInt8]) throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        // No call may use the user's own store.
        setenv("HOME", scratch.path, 1)
        setenv("XDG_DATA_HOME", scratch.path, 1)
        setenv("XDG_RUNTIME_DIR", scratch.path, 1)
        guard let text = fuzz_calls(bytes, bytes.count, scratch.path + "/store") else { return }
        defer { free(text) }
        throw Violation(description: String(cString: text))
    }
}
