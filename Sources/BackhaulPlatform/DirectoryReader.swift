internal import CLinux
internal import Glibc

// Unsafe: an entry belongs to readdir, and is valid until the next call of readdir. The name is copied before that
// call. Only the real length of the name is copied, because the entry's record may be shorter than the struct `dirent`.

/// Reads the names in directories (readdir(3)) for all modules. No other Swift code uses a `dirent`.
public enum DirectoryReader {
    /// How many entries a call reads at most, if the caller gives no limit.
    public static let standardLimit = 1 << 20

    /// The names in the order of the file system, without "." and "..". Names are bytes, which need not be UTF-8. If an
    /// entry is made or removed during the call, it is undefined whether the list has its name.
    public static func names(in path: String, limit: Int = standardLimit) throws(SystemError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        try read(path, limit: limit) { name in
            names.append(name)
            return true
        }
        return names
    }

    /// The names that are valid UTF-8. Other names are omitted.
    public static func textNames(in path: String, limit: Int = standardLimit) throws(SystemError) -> [String] {
        try names(in: path, limit: limit).compactMap { String(validating: $0, as: UTF8.self) }
    }

    /// Calls `body` with each name until `body` returns false, or until `limit` names were read.
    public static func read(
        _ path: String, limit: Int = standardLimit, _ body: ([UInt8]) -> Bool
    ) throws(SystemError) {
        let directory = try open(path)
        defer { closedir(directory) }
        var count = 0
        while count < limit {
            guard let entry = bhl_next_entry(directory) else {
                let code = bhl_errno()
                if code == EINTR { continue }
                guard code == 0 else { throw SystemError(code: code, messageStart: "cannot read \(path)") }
                return
            }
            let name = name(of: entry)
            if isDots(name) { continue }
            count += 1
            guard body(name) else { return }
        }
    }

    /// The name without the zero at its end. Only bytes of the entry's record are read.
    static func name(of entry: UnsafePointer<dirent>) -> [UInt8] {
        let name = bhl_entry_name(entry)
        return [UInt8](UnsafeRawBufferPointer(start: name.bytes, count: name.size))
    }

    private static func open(_ path: String) throws(SystemError) -> OpaquePointer {
        while true {
            if let directory = opendir(path) { return directory }
            let code = bhl_errno()
            guard code == EINTR else { throw SystemError(code: code, messageStart: "cannot read \(path)") }
        }
    }

    private static func isDots(_ name: [UInt8]) -> Bool {
        name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}
