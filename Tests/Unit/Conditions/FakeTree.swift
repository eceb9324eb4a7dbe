import BackhaulPlatform
import Glibc

/// A folder in place of /sys or /proc. The code that watches the system's state (such as power or heat) reads this
/// folder. The folder is removed when the object is freed.
final class FakeTree: Sendable {
    let root: String

    init(_ files: [String: String] = [:]) {
        var template = Array("/tmp/backhaul-tree-XXXXXX".utf8CString)
        mkdtemp(&template)
        root = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for (path, text) in files { write(path, text) }
    }

    func write(_ path: String, _ text: String) {
        makeFolder(above: path)
        guard let file = fopen("\(root)/\(path)", "w") else { return }
        fputs(text + "\n", file)
        fclose(file)
    }

    /// Replaces the file atomically. A reader sees either the whole old text or the whole new text, as in the kernel's
    /// files.
    func replace(_ path: String, _ text: String) {
        write(path + ".new", text)
        rename("\(root)/\(path).new", "\(root)/\(path)")
    }

    func makeFolder(_ path: String) { makeFolder(above: path + "/x") }

    private func makeFolder(above path: String) {
        var folder = root
        for part in path.split(separator: "/").dropLast() {
            folder += "/" + part
            mkdir(folder, 0o755)
        }
    }

    func makePipe(_ path: String) {
        makeFolder(above: path)
        mkfifo("\(root)/\(path)", 0o644)
    }

    func remove(_ path: String) { FakeTree.remove("\(root)/\(path)") }

    private static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        guard let names = try? DirectoryReader.textNames(in: path) else { return }
        for name in names { remove("\(path)/\(name)") }
        rmdir(path)
    }

    deinit { FakeTree.remove(root) }
}

extension FakeTree {
    /// Writes a power supply: one file for each attribute.
    func supply(_ name: String, _ attributes: [String: String]) {
        for (key, value) in attributes { write("class/power_supply/\(name)/\(key)", value) }
    }

    func zone(_ number: Int, _ attributes: [String: String]) {
        for (key, value) in attributes { write("class/thermal/thermal_zone\(number)/\(key)", value) }
    }
}
