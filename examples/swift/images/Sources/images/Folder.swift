import Foundation

/// ~/Pictures/Backhaul: the pictures, and images.log beside them.
final class Folder: @unchecked Sendable {
    // Unchecked: `isLaunched` is set before any other thread has this.
    var isLaunched = false
    private let folder: URL
    private let log: URL

    init() throws {
        // Foundation's own idea of it passes over the environment.
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        folder = URL(fileURLWithPath: home).appendingPathComponent("Pictures/Backhaul")
        log = folder.appendingPathComponent("images.log")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    var pictures: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { !$0.hasPrefix(".") && $0 != log.lastPathComponent }.sorted()
    }

    /// The last segment of the URL's path; nothing in it can lead elsewhere, hide the file or confuse a terminal.
    static func name(of address: String) -> String {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
        let path = URLComponents(string: address)?.percentEncodedPath ?? ""
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        var safe = String(name.map { allowed.contains($0) ? $0 : "_" }.suffix(99))
        if safe.hasPrefix(".") { safe = "_" + safe.dropFirst() }
        return safe.isEmpty || safe == "images.log" ? "picture" : safe
    }

    /// Moves a picture here, in place of an older one of its name.
    func keep(_ location: URL, as name: String) throws {
        let place = folder.appendingPathComponent(name)
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.moveItem(at: location, to: place)
    }

    func print(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// On the terminal, and in the log, which is all that a launched program has.
    func say(_ line: String) {
        if !isLaunched { print(line) }
        let text = Data("\(isLaunched ? "launched: " : "")\(line)\n".utf8)
        // One write to a file opened for appending: lines of two programs never mix.
        let file = open(log.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        _ = text.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
    }
}
