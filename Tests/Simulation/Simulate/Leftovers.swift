import Glibc

/// The files that are left when all tasks have ended, all events are acknowledged, and an engine has run.
struct Leftovers {
    private let history: History
    private let folder: String

    init(_ history: History, _ folder: String) { (self.history, self.folder) = (history, folder) }

    func record(in journal: Journal) {
        for name in names {
            var observation = Observation(time: world.servers.now, kind: .fileIsLeft)
            observation.text = name
            journal.add(observation)
        }
    }

    private var names: [String] {
        Self.names("\(folder)/files").filter { !belongsToProgram($0) } + Self.names("\(folder)/store/kept")
            + Self.names("\(folder)/store/bodies")
    }

    /// Whether a program or a task that has succeeded has made this file. A program that is killed leaves "N.new".
    private func belongsToProgram(_ name: String) -> Bool {
        Int(name.hasSuffix(".new") ? String(name.dropLast(4)) : name).flatMap(history.plan) != nil
    }

    private static func names(_ folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 > 0 }, as: UTF8.self) }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

extension Observation {
    /// The first 16 bytes of a name, in the two numbers.
    var text: String {
        get {
            withUnsafeBytes(of: (first, second)) { String(decoding: $0.prefix { $0 > 0 }, as: UTF8.self) }
        }
        set {
            var numbers: (Int64, Int64) = (0, 0)
            withUnsafeMutableBytes(of: &numbers) { $0.copyBytes(from: newValue.utf8.prefix($0.count)) }
            (first, second) = numbers
        }
    }
}
