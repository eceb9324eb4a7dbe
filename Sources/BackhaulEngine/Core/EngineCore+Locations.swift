internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulStore

extension EngineCore {
    /// A disk that does not answer may change these part files long after the engine has ended.
    func renewParts(named names: Set<String>, then: @escaping @Sendable () -> Void) {
        let tasks = transfers.all.map(\.attempt.task).filter { names.contains(files.location(of: $0).partName) }
        store({ (transaction) throws(Failure) in
            for task in tasks { try transaction.renewPart(of: task.id) }
        }, then: { _, _ in then() })
    }
}
