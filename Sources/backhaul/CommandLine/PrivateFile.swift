import CLinux
import Glibc

/// Files with secrets, or with the history of the user: only their owner may have access to them.
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

    /// Writes a file that only its owner can read. The file gets its name when it is complete, and replaces a file with
    /// this name. A pipe or a device is not replaced, but gets the text.
    static func write(_ text: String, to path: String) throws(CommandError) {
        var status = stat()
        let isPlain = stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        let written = isPlain ? path + ".new-\(getpid())" : path
        let number = bhl_open(written, O_WRONLY | (isPlain ? O_CREAT | O_EXCL | O_NOFOLLOW : 0), 0o600)
        guard number >= 0 else { throw failure(path) }
        let isWritten = Output.write(text, to: number)
        guard close(number) == 0, isWritten, !isPlain || rename(written, path) == 0 else {
            let error = failure(path)
            if isPlain { unlink(written) }
            throw error
        }
    }

    private static func failure(_ path: String) -> CommandError {
        .stopped(.transferFailed, "\(path) cannot be written: \(reasonOfLastError())")
    }
}
