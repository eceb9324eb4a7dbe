import FuzzCalls
import Glibc

/// The functions of include/backhaul.h, called in any order with legal and illegal arguments.
enum Calls {
    /// The bytes choose the calls of three threads and the arguments of each call. The start and the end of an engine
    /// take ten times as long as the calls. So only one input of eight has an engine of its own.
    @Sendable static func check(_ bytes: [UInt8]) throws {
        guard hasOwnHome else { throw Violation(description: "no folder for the home") }
        if let first = bytes.first, first % 8 == 0 {
            let scratch = try Scratch()
            defer { scratch.remove() }
            try makeCalls(bytes, in: scratch)
        } else {
            try makeCalls(bytes, in: SharedEngine.current())
        }
    }

    /// No call may use the user's own store.
    private static let hasOwnHome: Bool = {
        guard let home = try? Scratch() else { return false }
        let names: [String] = ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"]
        return names.allSatisfy { setenv($0, home.path, 1) == 0 }
    }()

    private static func makeCalls(_ bytes: [UInt8], in scratch: Scratch) throws {
        let files = scratch.path + "/files"
        try makeFile(in: files)
        guard let text = fuzz_calls(bytes, bytes.count, scratch.path + "/store", files) else { return }
        defer { free(text) }
        throw Violation(description: String(cString: text))
    }

    /// The paths `a`, which exists before the calls of each input, and `b` are arguments of calls. They are outside of
    /// the store, because a destination in the store is refused.
    private static func makeFile(in folder: String) throws(Violation) {
        mkdir(folder, 0o700)
        let file = open(folder + "/a", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try require(write(file, "a", 1) == 1, "/dev/shm has no room for a file")
    }
}

/// An engine that runs while several inputs make their calls. Then another engine takes its place, so that its store
/// stays small.
///
/// Unsafe: only the thread of the fuzzer uses the properties.
private enum SharedEngine {
    private static let inputs = 200
    private nonisolated(unsafe) static var scratch: Scratch?
    private nonisolated(unsafe) static var application: OpaquePointer?
    private nonisolated(unsafe) static var uses = 0

    static func current() throws -> Scratch {
        uses += 1
        if uses > inputs { close() }
        if let scratch { return scratch }
        let new = try Scratch()
        application = fuzz_open(new.path + "/store")
        scratch = new
        return new
    }

    private static func close() {
        fuzz_close(application)
        scratch?.remove()
        (scratch, application, uses) = (nil, nil, 0)
    }
}
