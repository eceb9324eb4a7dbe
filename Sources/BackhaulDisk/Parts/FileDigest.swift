internal import BackhaulModel
internal import BackhaulPlatform

/// The digest of a complete file. The command line checks the file of an earlier download with it.
public enum FileDigest {
    /// Whether the file has the checksum, which is a text such as "sha-256:…". False if the file cannot be read.
    public static func matches(_ checksum: String, file path: String) -> Bool {
        guard let expected = Checksum(checksum) else { return false }
        let files = FileSystem()
        guard let file = try? files.openForReading(path), let digester = try? Digester(expected.algorithm) else {
            return false
        }
        var offset: UInt64 = 0
        var slice = [UInt8](repeating: 0, count: PartDigest.sliceSize)
        while true {
            guard let count = try? files.read(file.number, into: &slice, at: offset) else { return false }
            if count == 0 { return (try? digester.finish()) == expected }
            guard (try? digester.add(slice[..<count])) != nil else { return false }
            offset += UInt64(count)
        }
    }
}
