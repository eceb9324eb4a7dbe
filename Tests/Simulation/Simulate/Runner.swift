import Glibc

/// Performs runs. The processes of a run follow each other, on the same folder.
struct Runner {
    let journal: Journal
    let folder: String
    private let zygote: Zygote

    /// Begins before anything else, so that the memory of each process of a run is the same.
    init(slot: Int) {
        journal = Journal()
        // The path is the same in each run, because the engine chooses threads by the hash of a path.
        folder = Self.folder(slot: slot)
        // Another program with the same folder ends first. The lock is held until this process ends.
        flock(open(folder + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600), LOCK_EX)
        loadLibraries(folder + ".libraries")
        zygote = Zygote(journal, folder: folder)
    }

    static func folder(slot: Int) -> String { "/dev/shm/backhaul-simulation-\(slot)" }

    /// Performs the run of a choice. Returns sentences about what must not have happened.
    func perform(_ choice: Choice) -> [String] {
        journal.begin(choice)
        removeFolder()
        mkdir(folder, 0o700)
        mkdir(folder + "/disk", 0o700)
        mkdir(folder + "/disk/files", 0o700)
        let history = History(choice)
        if history.usesHiddenDirectory { mkdir(hiddenDirectory(below: folder + "/disk"), 0o700) }
        for plan in history.tasks { File.make(plan, in: folder + "/disk/files") }
        defer { removeFolder() }
        while true {
            let status = zygote.runProcess()
            guard status & 0x7f == 0 else { return ["a process was ended by signal \(status & 0x7f)"] }
            switch status >> 8 & 0xff {
            case ProcessEnd.restart where journal.time < History.lastEnd: continue
            case ProcessEnd.done, ProcessEnd.restart:
                return Checks(History(choice), journal, folder + "/disk").violations
            case let other: return ["a process ended with status \(other)"]
            }
        }
    }

    /// Returns the choice that leaves out most, and whose run still has a violation.
    func shortest(of choice: Choice) -> Choice {
        var choice = choice
        while let shorter = shorter(than: choice) { choice = shorter }
        return choice
    }

    /// Leaves out a half of the tasks or faults, then a quarter, and so on. Returns nil if each part is needed.
    private func shorter(than choice: Choice) -> Choice? {
        for list in [\Choice.leftOutFaults, \Choice.leftOutTasks] {
            for size in [32, 16, 8, 4, 2, 1] {
                for first in stride(from: 0, to: 64, by: size) {
                    var candidate = choice
                    candidate[keyPath: list] |= (size == 32 ? 0xffff_ffff : 1 << UInt64(size) - 1) << UInt64(first)
                    let (before, after) = (History(choice), History(candidate))
                    let leavesOutMore =
                        after.tasks.count + after.faults.count < before.tasks.count + before.faults.count
                    guard leavesOutMore, !after.tasks.isEmpty else { continue }
                    if !perform(candidate).isEmpty { return candidate }
                }
            }
        }
        return nil
    }

    private func removeFolder() {
        var process = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("rm"), strdup("-rf"), strdup(folder), nil]
        posix_spawnp(&process, "rm", nil, nil, words, environ)
        waitpid(process, nil, 0)
        for word in words { free(word) }
    }
}
