public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

extension DiskThreads {
    /// Moves the named files from `folder` into its inner folder "lost", because the database does not know them. Each
    /// of them may be the only copy of a file that a program gave the library for an upload. Two kinds of files are
    /// deleted instead, because their content still exists elsewhere: snapshots (copies), and files with another hard
    /// link. When the changes are synced or have failed, `then` gets the number of moved files.
    public func quarantine(_ names: [String], in folder: String, then: @escaping @Sendable (Int) -> Void) {
        guard !names.isEmpty else { return then(0) }
        worker(for: folder).post { context in
            let quarantine = BodyQuarantine(folder: folder, files: context.files)
            let moved = names.count { (try? quarantine.quarantine($0)) == true }
            guard let directory = try? context.directories.directory(at: folder) else { return then(moved) }
            context.sync(directory) { _ in then(moved) }
        }
    }
}

/// The names of the files in the store's folder of request bodies, which are the data of uploads.
public enum BodyName {
    /// The name of a folder inside the folder of request bodies. The engine never changes or deletes the files in this
    /// inner folder.
    public static let lost = "lost"

    /// - number: a number that no other body of this engine has in its name.
    public static func make(_ prefix: String, _ number: UInt64, _ source: BodySource) -> String {
        prefix + String(number) + (source == .snapshot ? "s" : "")
    }

    /// Whether the name is that of a snapshot, which is a copy of a file that stays at its path.
    static func isCopy(_ name: String) -> Bool { name.prefix { $0 != "." }.last == "s" }
}

private struct BodyQuarantine {
    let folder: String
    let files: FileSystem

    /// Returns true if the file was moved, and false if it was deleted or does not exist.
    func quarantine(_ name: String) throws -> Bool {
        let source = try files.openDirectory(folder)
        guard let status = try files.status(in: source.number, name), status.isRegular else { return false }
        if status.linkCount > 1 || BodyName.isCopy(name) {
            try files.remove(name, in: source.number)
            return false
        }
        let path = folder + "/" + BodyName.lost
        if mkdir(path, 0o700) == 0 { try files.syncDirectory(source.number) }
        let target = try files.openDirectory(path)
        try files.rename(name, in: source.number, to: name, in: target.number, replace: false)
        try files.syncDirectory(target.number)
        return true
    }
}
