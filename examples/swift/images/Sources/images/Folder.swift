import Foundation

/// The folder ~/Pictures/Backhaul, which has the pictures and the file images.log.
final class Folder: @unchecked Sendable {
    // Unchecked: `isLaunched` is set before any other thread uses this object.
    var isLaunched = false
    private let folder: URL
    private let log: URL

    init() throws {
        // Foundation's function for the home directory does not read HOME, so this code reads HOME.
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        folder = URL(fileURLWithPath: home).appendingPathComponent("Pictures/Backhaul")
        log = folder.appendingPathComponent("images.log")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    var pictures: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { !$0.hasPrefix(".") && $0 != log.lastPathComponent }.sorted()
    }

    /// Makes a file name from the last segment of the URL's path. The name has no directories and no control
    /// characters, and does not begin with a dot.
    static func name(of address: String) -> String {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
        let path = URLComponents(string: address)?.percentEncodedPath ?? ""
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        var safe = String(name.map { allowed.contains($0) ? $0 : "_" }.suffix(99))
        if safe.hasPrefix(".") { safe = "_" + safe.dropFirst() }
        return safe.isEmpty || safe == "images.log" ? "picture" : safe
    }

    /// Moves a picture into the folder, and replaces an older picture with the same name.
    func keep(_ location: URL, as name: String) throws {
        let place = folder.appendingPathComponent(name)
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.moveItem(at: location, to: place)
    }

    func print(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Writes a line to the terminal and to the log. A launched program has no terminal.
    func report(_ line: String) {
        if !isLaunched { print(line) }
        let text = Data("\(isLaunched ? "launched: " : "")\(line)\n".utf8)
        // The file is opened for appending, and each line is one write, so the lines of two processes do not mix.
        let file = open(log.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        _ = text.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
    }
}
