#if BACKHAUL_FUZZER
import BackhaulPlatform
import CFuzzer
import Glibc
import Testing

/// Runs libFuzzer in the build of `scripts/fuzz`. The arguments are in the environment, because the program of the
/// tests has options of its own.
@Suite struct Fuzzer {
    @Test func run() throws {
        let words = String(cString: getenv("BACKHAUL_FUZZER")).split(separator: " ").map(String.init)
        // libFuzzer starts itself again with its first argument, as a command of the shell.
        let arguments = ["Tests/Fuzz/fuzzer \(words[0])"] + words.dropFirst()
        // The stack of a thread that runs tests is small.
        let thread = try Thread(name: "fuzzer") {
            Fuzzer.target = FuzzTarget.all.first { $0.name == words[0] }
            var count = Int32(arguments.count)
            var texts: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = .allocate(capacity: arguments.count)
            for (index, argument) in arguments.enumerated() { texts?[index] = strdup(argument) }
            exit(LLVMFuzzerRunDriver(&count, &texts, Fuzzer.test))
        }
        thread.join()
    }

    /// Unsafe: set before libFuzzer begins, and read only by its thread.
    private nonisolated(unsafe) static var target: FuzzTarget?

    private static let test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32 = { bytes, size in
        do {
            try target?.run(Array(UnsafeBufferPointer(start: bytes, count: size)))
        } catch {
            let line = Array("violation: \(error)\n".utf8)
            write(STDERR_FILENO, line, line.count)
            abort()
        }
        return 0
    }
}
#endif
