import CSimulation
import Glibc

sim_make_repeatable(CommandLine.unsafeArgv, Runner.folder(slot: Options.slot) + "/disk/store")
var options = Options()
var campaign = Campaign(Runner(slot: Options.slot))
options.read()
(campaign.shows, campaign.shrinks) = (options.shows, options.shrinks)
for seed in options.choice.seed..<options.choice.seed + options.count {
    var choice = options.choice
    choice.seed = seed
    if let distance = options.stepDistance {
        campaign.performSteps(choice, distance)
    } else if let distance = options.callDistance {
        campaign.performCalls(choice, distance)
    } else {
        campaign.perform(choice)
    }
    if options.stopsAtFirst, campaign.violations > 0 { break }
}
campaign.report()
exit(campaign.violations == 0 ? 0 : 1)
