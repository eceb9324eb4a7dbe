import CSimulation
import Glibc

/// The arguments of the program. They are not in the table of the command line's options, because the program is only
/// for tests.
struct Options {
    var choice = Choice(seed: 1)
    var count: UInt64 = 1
    var stepDistance: UInt64?
    var callDistance: UInt64?
    var stopsAtFirst = false
    var shows = false
    var shrinks = true
    /// Programs that run at the same time have different slots.
    static let slot = getenv("SIMULATION_SLOT").flatMap { Int(String(cString: $0)) } ?? 0

    mutating func read() {
        let given = getenv("SIMULATION_ARGUMENTS").map { String(cString: $0) } ?? ""
        var words = given.split(separator: " ")[...]
        func number() -> UInt64 { words.popFirst().flatMap { UInt64($0) } ?? 1 }
        func feature() -> Feature {
            guard let name = words.popFirst(), let feature = Feature(rawValue: String(name)) else { Self.showUsage() }
            return feature
        }
        while let word = words.popFirst() {
            switch word {
            case "--seed": choice.seed = number()
            case "--count": count = number()
            case "--without-tasks": choice.leftOutTasks = number()
            case "--without-faults": choice.leftOutFaults = number()
            case "--kill": choice.lastStep = number()
            case "--power-cut": (choice.lastStep, choice.isPowerCut) = (number(), true)
            case "--fail": choice.failedCall = number()
            case "--each-step": stepDistance = 1
            case "--fail-allocation": (choice.failedCall, choice.failsAllocation) = (number(), true)
            case "--each-call": callDistance = 1
            case "--call-stride": callDistance = number()
            case "--allocation-stride": (callDistance, choice.failsAllocation) = (number(), true)
            case "--stride": stepDistance = number()
            case "--stop": stopsAtFirst = true
            case "--ignore-file-syncs": choice.ignoredSyncs = SIM_IGNORES_FILE_SYNCS.rawValue
            case "--ignore-directory-syncs": choice.ignoredSyncs = SIM_IGNORES_DIRECTORY_SYNCS.rawValue
            case "--without": choice.leftOut.insert(feature())
            case "--upgrade": choice.hasUpgrade = true
            case "--story": shows = true
            case "--no-shrinking": shrinks = false
            default: Self.showUsage()
            }
        }
    }

    private static func showUsage() -> Never {
        say(usage)
        exit(2)
    }

    private static let usage = """
        usage: simulate [--seed SEED] [--count SEEDS] [--story] [--no-shrinking] [--stop]
                        [--upgrade]
                        [--each-step | --stride STEPS | --kill STEP | --power-cut STEP]
                        [--each-call | --call-stride CALLS | --fail CALL]
                        [--allocation-stride ALLOCATIONS | --fail-allocation ALLOCATION]
                        [--without FEATURE]... [--without-tasks BITS] [--without-faults BITS]
                        [--ignore-file-syncs | --ignore-directory-syncs]
        features: \(Feature.allCases.map(\.rawValue).joined(separator: ", "))
        """
}
