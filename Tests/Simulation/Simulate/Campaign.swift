import CSimulation
import Glibc

/// Many runs, and what they have found.
struct Campaign {
    /// Whether each run is shown in words.
    var shows = false
    /// Whether a history with a violation is made shorter.
    var shrinks = true
    /// Which syncs have no effect.
    var ignoredSyncs = SIM_HONEST
    private(set) var violations = 0
    private var runs = 0
    private var simulated: Int64 = 0
    private let journal = Journal()
    /// The path is the same in each run, because the engine chooses threads by the hash of a path.
    private let folder = "/dev/shm/backhaul-simulation"

    init() {
        // Another program with the same folder ends first. The lock is held until this process ends.
        flock(open(folder + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600), LOCK_EX)
    }

    /// Performs the run of a history, and reports what must not have happened.
    mutating func perform(_ history: History, _ name: String) {
        var history = history
        history.disk.ignoredSyncs = ignoredSyncs
        let found = Run(history, journal, folder: folder).perform()
        runs += 1
        simulated += journal.all.last?.time ?? 0
        if shows { Story(journal).show() }
        guard !found.isEmpty else { return }
        violations += 1
        say("\(name): \(found.joined(separator: "; "))")
        guard shrinks else { return }
        let shortest = Shrinking(journal: journal, folder: folder).shortest(of: history)
        let rest = Run(shortest, journal, folder: folder).perform()
        say("its shortest history: \(rest.joined(separator: "; "))")
        Story(journal).show()
    }

    /// Ends the first process at each durable step whose number `distance` divides, until it has no such step.
    mutating func performSteps(_ history: History, _ distance: UInt64) {
        var history = history
        history.faults = []
        for step in stride(from: distance, to: UInt64.max, by: Int(distance)) {
            for isPowerCut in [false, true] {
                history.end = (step, isPowerCut)
                perform(history, "seed \(history.seed), \(isPowerCut ? "power cut" : "kill") at step \(step)")
            }
            if !journal.all.contains(where: { $0.kind == .powerFails }) { return }
        }
    }

    func report() { say("\(runs) runs, \(simulated / hour) simulated hours, \(violations) with a violation") }
}
