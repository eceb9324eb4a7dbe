internal import CLinux
internal import Glibc

/// The environment of this process. A program that has more rights than its caller must not trust the environment. In
/// such a program, this type returns no variables (secure_getenv(3)).
public enum Environment {
    public static func variable(_ name: String) -> String? {
        // Unsafe: the pointer may become invalid when the program changes its environment. So the text is copied at
        // once.
        bhl_secure_getenv(name).map { String(cString: $0) }
    }

    /// All variables, as `NAME=value`.
    public static var entries: [String] {
        var entries: [String] = []
        var index = 0
        while let entry = bhl_environment_entry(index) {
            let text = String(cString: entry)
            index += 1
            let name = String(text.prefix { $0 != "=" })
            if bhl_secure_getenv(name) != nil { entries.append(text) }
        }
        return entries
    }

    /// The name and value of an entry; nil if the entry has no name or no `=`.
    public static func split(_ entry: String) -> (name: String, value: String)? {
        guard let mark = entry.firstIndex(of: "="), mark != entry.startIndex else { return nil }
        return (String(entry[..<mark]), String(entry[entry.index(after: mark)...]))
    }

    /// Returns the variables as sorted entries `NAME=value`, for the start of a program.
    public static func joined(_ variables: [String: String]) -> [String] {
        variables.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// The user's home directory: `$HOME`, or else the directory in the user database.
    public static var home: String? {
        if let home = variable("HOME"), home.utf8.first == UInt8(ascii: "/") { return home }
        var buffer = [CChar](repeating: 0, count: 4_096)
        guard bhl_home_directory(&buffer, buffer.count) == 0 else { return nil }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.utf8.first == UInt8(ascii: "/") ? text : nil
    }

    /// The path of the program that this process runs.
    public static var ownProgram: String? {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The kernel adds this text if an update has replaced the file.
        let deleted = " (deleted)"
        return path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
    }
}
