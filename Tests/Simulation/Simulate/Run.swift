import CSimulation
import Glibc

/// A run of a history: processes, one after the other, on the same folder. Each is a fork of this process, so a process
/// may be killed at any step.
struct Run {
    let history: History
    let journal: Journal
    let folder: String

    init(_ history: History, _ journal: Journal, folder: String) {
        (self.history, self.journal, self.folder) = (history, journal, folder)
    }

    /// The folder that is on the simulated disk.
    private var disk: String { folder + "/disk" }

    /// Performs the run. Returns sentences about what must not have happened.
    func perform() -> [String] {
        journal.reset()
        removeFolder()
        mkdir(folder, 0o700)
        mkdir(disk, 0o700)
        mkdir(disk + "/files", 0o700)
        defer { removeFolder() }
        while true {
            let process = fork()
            if process == 0 { runProcess() }
            var status: Int32 = 0
            waitpid(process, &status, 0)
            guard status & 0x7f == 0 else { return ["a process was ended by signal \(status & 0x7f)"] }
            switch status >> 8 & 0xff {
            case ProcessEnd.restart where journal.time < History.lastEnd: continue
            case ProcessEnd.done, ProcessEnd.restart: return Checks(history, journal, disk).violations
            case let other: return ["a process ended with status \(other)"]
            }
        }
    }

    private func runProcess() -> Never {
        let wall: Int64 = 1_700_000_000 * second
        world = World(history, journal, folder: disk)
        sim_begin(
            history.seed &* 31 &+ UInt64(journal.all.count), wall + journal.time + journal.calendar,
            journal.time - journal.bootTime)
        world.machine.loadFiles(below: disk)
        if journal.all.isEmpty { world.machine.endAtStep() }
        world.machine.begin()
        var program = Program(history, journal, folder: disk)
        program.run()
    }

    private func removeFolder() {
        var process = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("rm"), strdup("-rf"), strdup(folder), nil]
        posix_spawnp(&process, "rm", nil, nil, words, environ)
        waitpid(process, nil, 0)
        for word in words { free(word) }
    }
}
