internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// Whether bytes may move now.
extension TaskRunner {
    /// Whether a byte may be taken or sent now. If not, `goOn` is called when it may.
    func mayMove() -> Bool {
        if core.budgets.isDeciding, mayBeDeferred, !core.budgets.mayMove(task) { return false }
        return core.rates.mayMove(task.id, of: task.session)
    }

    func moved(_ count: Int) { core.rates.moved(count, by: task.id, of: task.session) }

    /// A paused stream of HTTP/2 holds up all others of its connection, and libcurl 7.88 keeps up to 10 MiB of it: a
    /// limited task has a connection of its own.
    var isLimited: Bool { core.rates.isLimited(task.id, of: task.session) }

    /// It waits neither for a rate of ours, nor for the disk, nor for the server's response.
    var waitsForNetwork: Bool { transfer != nil && !isUnanswered && !waitsForRate && !isFinishing && takesBytes }

    var waitsForRate: Bool { core.rates.isWaiting(task.id) }

    func goOn() {
        // The silence was ours.
        lastByte = core.loop.now
        transfer?.resume()
        transfer?.resumeSending()
    }

    /// The body as it may be sent.
    func limited(_ body: (any TransferBody)?) -> (any TransferBody)? { body.map { LimitedBody($0, self) } }
}
