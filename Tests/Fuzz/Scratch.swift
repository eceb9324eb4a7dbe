import BackhaulPlatform
import Glibc

/// A new folder for the files of a target. It is in memory, because the syncs of a disk would take most of the time.
struct Scratch {
    let path: String

    init() throws {
        var template = Array("/dev/shm/backhaul-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Violation(description: "/dev/shm has no room for a folder") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder. Open files in it can still be used.
    func remove() { Scratch.remove(path) }

    private static func remove(_ path: String) {
        guard let names = try? DirectoryReader.textNames(in: path) else {
            unlink(path)
            return
        }
        for name in names { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
