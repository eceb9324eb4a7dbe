import CBackhaulTables
import Glibc

/// Runs the command line and returns the exit code. The engine runs the transfers of a store, the directory with all
/// data. The code 0 means that this process was the store's engine, or that another engine serves the store. The code 1
/// means that the store cannot be served. The code 2 means that the command line is wrong.
public enum Program {
    public static func run(_ words: [String]) -> Int32 {
        // The Swift runtime reads the command line from /proc. Without the option --store, the daemon would serve the
        // default store.
        guard !words.isEmpty else {
            writeText("backhauld: /proc is not mounted, so the options cannot be read\n", to: STDERR_FILENO)
            return 2
        }
        // The signals are blocked before any thread exists, so that all threads block them.
        let signals = StopSignals()
        switch Options.parse(words) {
        case .run(let options):
            return Daemon(options: options, signals: signals).run()
        case .repair(let options):
            return Repair(options: options).run()
        case .help:
            return printText(Options.help)
        case .version:
            return printText("backhauld \(bht_version_string().map { String(cString: $0) } ?? "")\n")
        case .invalid(let sentence):
            // If the sentence is empty, getopt_long has printed the mistake.
            if !sentence.isEmpty { writeText("backhauld: \(sentence)\n", to: STDERR_FILENO) }
            writeText("Try `backhauld --help`.\n", to: STDERR_FILENO)
            return 2
        }
    }

    private static func printText(_ text: String) -> Int32 {
        writeText(text, to: STDOUT_FILENO) ? 0 : 1
    }

    /// Writes without stdio, because the streams of stdio are mutable globals.
    @discardableResult
    static func writeText(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
