/// What decides a run. It has only numbers, so it can be in memory that processes share.
struct Choice: Equatable {
    var seed: UInt64
    /// For each task and fault of the history, a bit says whether it is left out.
    var leftOutTasks: UInt64 = 0
    var leftOutFaults: UInt64 = 0
    /// The first process ends before this durable step of its disk; 0: at no step.
    var lastStep: UInt64 = 0
    /// Whether it ends because the power fails, and not by a kill.
    var isPowerCut = false
    /// The number of the call on the system that fails in the first process; 0: none.
    var failedCall: UInt64 = 0
    /// Whether it is an allocation of memory.
    var failsAllocation = false
    /// What the history does not have.
    var leftOut = FeatureSet()
    /// Whether a newer library is installed during the run.
    var hasUpgrade = false
    /// Which syncs have no effect (`sim_lie`).
    var ignoredSyncs: UInt32 = 0

    func includes(_ feature: Feature) -> Bool { !leftOut.contains(.rare) && !leftOut.contains(feature) }

    /// The arguments of the program for this choice.
    var arguments: String {
        // The path of the store has the slot, and the engine chooses threads by the hash of a path.
        var text = Options.slot == 0 ? "" : "SIMULATION_SLOT=\(Options.slot) "
        text += "--seed \(seed)"
        if leftOutTasks != 0 { text += " --without-tasks \(leftOutTasks)" }
        if leftOutFaults != 0 { text += " --without-faults \(leftOutFaults)" }
        if lastStep != 0 { text += " \(isPowerCut ? "--power-cut" : "--kill") \(lastStep)" }
        if failedCall != 0 { text += " \(failsAllocation ? "--fail-allocation" : "--fail") \(failedCall)" }
        for feature in Feature.allCases where leftOut.contains(feature) { text += " --without \(feature.rawValue)" }
        if hasUpgrade { text += " --upgrade" }
        return text
    }
}
