import BackhaulModel

extension LaunchPolicy {
    /// 60, 120, 240… seconds, 8 times.
    static var usual: LaunchPolicy { LaunchPolicy(LaunchCommand(program: "/usr/bin/photos")) }
}

extension LaunchDecision.Facts {
    /// A session needs its host, nobody is there, and nothing was launched yet.
    static func waiting(_ change: (inout LaunchDecision.Facts) -> Void = { _ in }) -> LaunchDecision.Facts {
        var facts = LaunchDecision.Facts(
            policy: .usual, backoff: LaunchBackoff(), run: .none, hasLaunch: false, isOutstanding: false,
            isNeeded: true, isCovered: false, coverEndsAt: nil, now: 1_000_000)
        change(&facts)
        return facts
    }

    /// As `waiting`, with a launched host that lives.
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
