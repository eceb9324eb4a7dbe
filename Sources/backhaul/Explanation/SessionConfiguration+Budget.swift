import Backhaul

extension SessionConfiguration {
    /// A phrase such as "the daily limit of session 'photos' is 0 B". Nil if the reason is not a budget of 0 bytes.
    func zeroBudgetSentence(_ reason: Reason?, _ facts: WaitFacts, session: String) -> String? {
        guard reason == .budget else { return nil }
        let network = facts.network
        let name = Text.visible(network?.name ?? "")
        let limits = [
            (budget.daily, "daily limit of session '\(Text.visible(session))'"),
            (budget.monthly, "monthly limit of session '\(Text.visible(session))'"),
            (network?.budget.daily, "daily limit of network '\(name)'"),
            (network?.budget.monthly, "monthly limit of network '\(name)'"),
        ]
        return limits.first { $0.0 == 0 }.map { "the \($0.1) is 0 B" }
    }
}
