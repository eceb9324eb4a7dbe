import BackhaulModel

extension LaunchPolicy {
    /// The default policy for launches of a *host*, a program that uses the library. The delays are 60, 120, 240…
    /// seconds, and there are at most 8 launches.
    static var usual: LaunchPolicy { LaunchPolicy(LaunchCommand(program: "/usr/bin/photos")) }
}

extension LaunchDecision.Facts {
    /// The facts about a session that needs its host. No host is connected, and no host was launched so far.
    static func waiting(_ change: (inout LaunchDecision.Facts) -> Void = { _ in }) -> LaunchDecision.Facts {
        var facts = LaunchDecision.Facts(
            policy: .usual, backoff: LaunchBackoff(), run: .none, hasLaunch: false, isOutstanding: false,
            isNeeded: true, isCovered: false, coverEndsAt: nil, now: 1_000_000)
        change(&facts)
        return facts
    }

    /// The facts of `waiting`, but with a launched host that runs.
    static func launched(
        _ living: LaunchDecision.Living, _ change: (inout LaunchDecision.Facts) -> Void = { _ in }
    ) -> LaunchDecision.Facts {
        waiting { facts in
            facts.run = .living(living)
            facts.hasLaunch = true
            facts.isOutstanding = true
            facts.backoff = LaunchBackoff(launches: 1, dueAt: 2_000_000)
            change(&facts)
        }
    }
}
