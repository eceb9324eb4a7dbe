import CSimulation
import Glibc

sim_make_repeatable(CommandLine.unsafeArgv)
var campaign = Campaign()
var first: UInt64 = 1
var count: UInt64 = 1
var stopsAtFirst = false
/// The first process ends at each step whose number this divides; nil: at none.
var stepDistance: UInt64?
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    switch argument {
    case "--seed": first = arguments.popFirst().flatMap { UInt64($0) } ?? 1
    case "--count": count = arguments.popFirst().flatMap { UInt64($0) } ?? 1
    case "--each-step": stepDistance = 1
    case "--stride": stepDistance = arguments.popFirst().flatMap { UInt64($0) } ?? 1
    case "--stop": stopsAtFirst = true
    case "--ignore-file-syncs": campaign.ignoredSyncs = SIM_IGNORES_FILE_SYNCS
    case "--ignore-directory-syncs": campaign.ignoredSyncs = SIM_IGNORES_DIRECTORY_SYNCS
    case "--story": campaign.shows = true
    case "--no-shrinking": campaign.shrinks = false
    default:
        say("usage: simulate [--seed SEED] [--count SEEDS] [--each-step | --stride STEPS] [--story] [--no-shrinking]")
        say("                [--stop] [--ignore-file-syncs | --ignore-directory-syncs]")
        exit(2)
    }
}
for seed in first..<first + count {
    if let stepDistance {
        campaign.performSteps(History(seed: seed), stepDistance)
    } else {
        campaign.perform(History(seed: seed), "seed \(seed)")
    }
    if stopsAtFirst, campaign.violations > 0 { break }
}
campaign.report()
exit(campaign.violations == 0 ? 0 : 1)
