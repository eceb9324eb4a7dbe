internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The files and directories below one root. The root is a file system of the kernel, or a directory that replaces it.
/// No content is trusted. Files may disappear during a read, may be directories or pipes, or may have no end.
struct SystemTree: Sendable {
    static let fileSizeLimit = 65_536
    static let entryLimit = 256
    /// The limit on the entries that are read from one directory. Wanted and unwanted entries count.
    private static let scanLimit = 65_536

    let root: String

    /// The content of a file, without blanks and line ends around it.
    func text(_ path: String) throws(SystemError) -> String {
        let number = bhl_open(full(path), O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
        guard number >= 0 else { throw SystemError.last("cannot read \(full(path))") }
        defer { close(number) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(code: EINVAL, messageStart: "\(full(path)) is no file")
        }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(number, &buffer, buffer.count)
            if count < 0, bhl_errno() == EINTR { continue }
            guard count >= 0 else { throw SystemError.last("cannot read \(full(path))") }
            if count == 0 { return SystemTree.trimmed(content) }
            content += buffer[..<count]
            guard content.count <= SystemTree.fileSizeLimit else {
                throw SystemError(code: EFBIG, messageStart: "cannot read \(full(path))")
            }
        }
    }

    /// The content of a file, or nil if it cannot be read.
    func optionalText(_ path: String) -> String? { try? text(path) }

    /// Returns the sorted names of the wanted entries. If there are more than `entryLimit`, returns those that come
    /// first in the kernel's order. Unwanted entries do not count towards this limit: a machine with hundreds of
    /// processors has hundreds of cooling devices, and only a few thermal zones.
    func entries(_ path: String, where isWanted: (String) -> Bool = { _ in true }) throws(SystemError) -> [String] {
        var names: [String] = []
        try DirectoryReader.read(full(path), limit: SystemTree.scanLimit) { bytes in
            if let name = String(validating: bytes, as: UTF8.self), !name.hasPrefix("."), isWanted(name) {
                names.append(name)
            }
            return names.count < SystemTree.entryLimit
        }
        return names.sorted()
    }

    func contains(_ path: String) -> Bool { access(full(path), F_OK) == 0 }

    /// The full path, for system calls and messages.
    func full(_ path: String) -> String { root.hasSuffix("/") ? root + path : root + "/" + path }

    private static func trimmed(_ content: [UInt8]) -> String {
        let isBlank: (UInt8) -> Bool = { $0 <= 0x20 }
        guard let first = content.firstIndex(where: { !isBlank($0) }),
            let last = content.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: content[first...last], as: UTF8.self)
    }
}
