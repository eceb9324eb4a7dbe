public import BackhaulModel

/// Which versions tasks have put at destinations, for requests that want another one only.
extension Transaction {
    /// What is known of the file at the destination, and the file as it was left; nil when that version was of another
    /// URL.
    public func version(
        at destination: String, of url: String, in session: SessionID
    ) throws(Failure) -> StoredVersion? {
        try tables.versions.find(at: destination, of: url, in: session)
    }

    /// The task that ends has put this file at its destination. Its validators are those of the answer that was
    /// recorded with the intent; without any, what was known of the destination is removed.
    public func recordVersion(
        of task: TaskID, at destination: String, of url: String, in session: SessionID, inode: UInt64, size: UInt64,
        modifiedNanoseconds: Int64
    ) throws(Failure) {
        let answer = try tables.requests.answer(of: task)
        func value(_ name: String) -> String? {
            answer?.headers.first { $0.name == name }.flatMap { Self.isPlain($0.value) ? $0.value : nil }
        }
        let (tag, modified) = (value("ETag"), value("Last-Modified"))
        guard tag != nil || modified != nil, let finalURL = answer?.finalURL else {
            return try tables.versions.remove(at: destination, in: session)
        }
        let version = FileVersion(entityTag: tag, lastModified: modified, finalURL: finalURL, size: size)
        try tables.versions.write(
            StoredVersion(version: version, inode: inode, modifiedNanoseconds: modifiedNanoseconds), at: destination,
            of: url, in: session)
    }

    /// Short enough to be kept and sent back with every request, and without bytes that text does not keep.
    private static func isPlain(_ text: String) -> Bool {
        (1...1_024).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
