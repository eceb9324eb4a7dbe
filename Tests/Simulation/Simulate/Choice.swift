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
    /// Whether the history has only what histories had at first (`History.addRareEvents`).
    var leavesOutRare = false
    /// Whether no secret of a server changes (`History.addCredentials`).
    var leavesOutCredentials = false
    /// Whether no task has a file in the store (`History.addKeptFiles`).
    var leavesOutStoreFiles = false
    /// Whether the history has no groups, and no program enqueues an ended task again.
    var leavesOutGroups = false
    /// Whether a newer library is installed during the run.
    var hasUpgrade = false
    /// Which syncs have no effect (`sim_lie`).
    var ignoredSyncs: UInt32 = 0

    /// The arguments of the program for this choice.
    var arguments: String {
        var text = "--seed \(seed)"
        if leftOutTasks != 0 { text += " --without-tasks \(leftOutTasks)" }
        if leftOutFaults != 0 { text += " --without-faults \(leftOutFaults)" }
        if lastStep != 0 { text += " \(isPowerCut ? "--power-cut" : "--kill") \(lastStep)" }
        if failedCall != 0 { text += " \(failsAllocation ? "--fail-allocation" : "--fail") \(failedCall)" }
        if leavesOutRare { text += " --without-rare" }
        if leavesOutCredentials { text += " --without-credentials" }
        if leavesOutStoreFiles { text += " --without-store-files" }
        if leavesOutGroups { text += " --without-groups" }
        if hasUpgrade { text += " --upgrade" }
        return text
    }
}
