extension Event {
    /// The approximate number of bytes that the event needs in a message.
    public var size: Int {
        switch kind {
        case .sessionFinished: return 64
        case .groupFinished(let group): return 64 + group.name.utf8.count
        case .activity(let identifier): return 64 + identifier.utf8.count
        case .challenge(let challenge):
            return 128 + (challenge?.space.origin.utf8.count ?? 0) + (challenge?.space.realm?.utf8.count ?? 0)
        case .taskEnded(let task):
            let response = task.outcome.response
            let headers = response.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 }
            return 160 + task.url.utf8.count + (task.userData?.count ?? 0) + (task.outcome.path?.utf8.count ?? 0)
                + (response.finalURL?.utf8.count ?? 0) + headers + (response.errorBody?.count ?? 0)
                + (response.responseBody?.count ?? 0)
                + (task.outcome.failure?.message.utf8.count ?? 0)
        }
    }
}
