internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Finds out whether a file system accepts the name of a download's file, before the bytes are fetched. FAT, exFAT and
/// many network shares refuse some characters, and some file systems have a lower limit of the length.
enum NameProbe {
    /// The names that every file system accepts need no probe: short ones of printable ASCII without these characters.
    private static let refusedByMany = Array("\\:*?\"<>|".utf8)
    private static let shortLength = 100

    static func isNeeded(_ name: String) -> Bool {
        let bytes = name.utf8
        return bytes.count > shortLength || bytes.last == UInt8(ascii: ".") || bytes.last == UInt8(ascii: " ")
            || bytes.contains { $0 < 0x20 || $0 >= 0x7F || refusedByMany.contains($0) }
    }

    /// Throws if the directory's file system refuses the name.
    static func check(_ name: String, in directory: Int32, at path: String, _ files: FileSystem) throws(Failure) {
        guard isNeeded(name), let code = refusal(name, in: directory, files) else { return }
        throw .system(
            .destinationUnavailable, code: code,
            "the file system of \(path) refuses the name of this file: \(SystemError.reason(of: code)); choose another "
                + "name")
    }

    /// Makes and removes a hidden file with the characters of the name. Returns the error if the name is refused.
    private static func refusal(_ name: String, in directory: Int32, _ files: FileSystem) -> Int32? {
        guard let space = try? files.space(directory) else { return nil }
        if space.nameLength > 0, name.utf8.count > space.nameLength { return ENAMETOOLONG }
        guard !space.acceptsAllNames else { return nil }
        let prefix = ".backhaul-\(String(UInt32.random(in: 0 ... .max), radix: 16))-"
        var rest = Substring(name)
        let limit = min(Limits.fileNameSize, space.nameLength > 0 ? space.nameLength : .max)
        while prefix.utf8.count + rest.utf8.count > limit, !rest.isEmpty { rest.removeFirst() }
        let probe = prefix + rest
        do {
            _ = try files.create(in: directory, probe)
            try? files.remove(probe, in: directory)
            return nil
        } catch {
            return [EINVAL, EILSEQ, ENAMETOOLONG, ENOENT].contains(error.code) ? error.code : nil
        }
    }
}
