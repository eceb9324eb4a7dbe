internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulStore

/// How far the giving back of consumed files is.
struct BodyReturns {
    var isRunning = false
    /// Called when all that was listed before was tried.
    var waiting: [@Sendable (EngineCore) -> Void] = []
    /// For the next walk over the list: this one may be past what they have listed.
    var waitingForNext: [@Sendable (EngineCore) -> Void] = []
    /// Some could not be given back, and are tried again with every sweep.
    var isSomethingLeft = false
    /// Of these the log tells already.
    var told: Set<String> = []
}

/// Consumed files of tasks that have not succeeded and whose events are acknowledged go back to where they were.
extension EngineCore {
    private static let atATime = 256

    /// `then` is called when all that are listed by now lie where they were, as far as that can be helped.
    func giveBodiesBack(then: @escaping @Sendable (EngineCore) -> Void = { _ in }) {
        guard !bodyReturns.isRunning else { return bodyReturns.waitingForNext.append(then) }
        bodyReturns.isRunning = true
        bodyReturns.isSomethingLeft = false
        bodyReturns.waiting = [then]
        walkReturns()
    }

    private func walkReturns() {
        // Old names go first: what is given back has them again.
        removeConsumed { core in core.giveBack(after: "") }
    }

    private func giveBack(after name: String) {
        store({ (transaction) throws(Failure) in
            try transaction.bodiesToReturn(after: name, limit: Self.atATime)
        }, then: { core, result in
            guard case .success(let bodies) = result, let last = bodies.last else { return core.endReturns() }
            let outbox = core.services.outbox
            core.services.disk.giveBack(bodies, from: core.services.directory.bodiesPath) { outcomes in
                outbox.post { core in core.gaveBack(outcomes, through: last.name) }
            }
        })
    }

    private func gaveBack(_ outcomes: [(body: ReturnedBody, failure: Failure?)], through name: String) {
        for case (let body, let failure?) in outcomes { tell(of: body, failure) }
        let done = outcomes.filter { $0.failure == nil }.map(\.body.name)
        store({ (transaction) throws(Failure) in try transaction.forgetReturned(done) }, then: { core, _ in
            core.giveBack(after: name)
        })
    }

    private func tell(of body: ReturnedBody, _ failure: Failure) {
        bodyReturns.isSomethingLeft = true
        guard bodyReturns.told.insert(body.name).inserted else { return }
        let place = services.directory.bodyFile(named: body.name)
        services.options.log(
            LogEntry(
                .warning,
                "the file \(body.path), which task \(body.task.rawValue) has consumed, cannot be given back and "
                    + "stays at \(place) until it can: \(failure.message)"))
    }

    private func endReturns() {
        let finished = bodyReturns.waiting
        bodyReturns.waiting = bodyReturns.waitingForNext
        bodyReturns.waitingForNext = []
        if bodyReturns.waiting.isEmpty { bodyReturns.isRunning = false } else { walkReturns() }
        for then in finished { then(self) }
    }
}
