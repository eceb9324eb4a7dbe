import CSimulation
import Glibc

sim_make_repeatable(CommandLine.unsafeArgv)
var campaign = Campaign()
var first: UInt64 = 1
var count: UInt64 = 1
var endsAtEachStep = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    switch argument {
    case "--seed": first = arguments.popFirst().flatMap { UInt64($0) } ?? 1
    case "--count": count = arguments.popFirst().flatMap { UInt64($0) } ?? 1
    case "--each-step": endsAtEachStep = true
    case "--ignore-file-syncs": campaign.ignoredSyncs = SIM_IGNORES_FILE_SYNCS
    case "--ignore-directory-syncs": campaign.ignoredSyncs = SIM_IGNORES_DIRECTORY_SYNCS
    case "--story": campaign.tells = true
    case "--no-shrinking": campaign.shrinks = false
    default:
        say("usage: simulate [--seed SEED] [--count SEEDS] [--each-step] [--story] [--no-shrinking]")
        say("                [--ignore-file-syncs | --ignore-directory-syncs]")
        exit(2)
    }
}
for seed in first..<first + count {
    if endsAtEachStep {
        campaign.performEachStep(History(seed: seed))
    } else {
        campaign.perform(History(seed: seed), "seed \(seed)")
    }
}
campaign.report()
exit(campaign.violations == 0 ? 0 : 1)
