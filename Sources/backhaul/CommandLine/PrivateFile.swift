import CLinux
import Glibc

/// Files with secrets: only their owner may have access to them.
enum PrivateFile {
    /// Why the file must have no secret, and what to do. Nil if only its owner has access. Pipes and devices have no
    /// lasting content, so they are accepted.
    static func problem(_ file: String) -> String? {
        var status = stat()
        guard file != "-", stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0
        else { return nil }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return "other users may have access to the file (mode 0\(mode)); run: chmod 600 \(Text.quoted(file))"
    }

    /// Throws if other users may have access to a file with a password.
    static func check(_ file: String) throws(CommandError) {
        if let problem = problem(file) { throw .usage("\(file) has a password, but \(problem)") }
    }
}
