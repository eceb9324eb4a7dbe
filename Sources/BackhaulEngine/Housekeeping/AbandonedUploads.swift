internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// Asks servers to remove what they have of uploads that ended without success. The transaction that ends such an
/// upload adds it to a list, so the server is asked even after a crash. Each engine has one object of this type. It
/// sends one request at a time.
final class AbandonedUploads {
    /// What this object needs of the engine.
    struct Surroundings {
        /// Sends the request for the removal. `then` gets the status of the response; nil if none came.
        var send: (AbandonedUpload, SessionConfiguration, _ then: @escaping (Int32?) -> [EngineEffect]) -> Sending
        /// Has the engine read these conditions until the next call.
        var setNeeds: (ConditionSet) -> Void
    }

    enum Sending {
        case sent(AnyObject)
        /// The session has conditions that are not met, or that the engine has not read yet.
        case held(by: ConditionSet, isRead: Bool)
        case failed
    }

    private static let batchSize = 64
    /// The time until a failed request is sent again. An engine that ends earlier leaves this to the next engine.
    private static let retryMilliseconds: Int64 = 300_000

    private let runtime: any Runtime
    private let surroundings: Surroundings
    private lazy var timer = runtime.timer { [unowned self] in
        remove()
        return []
    }
    private var batch: ArraySlice<(upload: AbandonedUpload, configuration: SessionConfiguration)> = []
    private var request: AnyObject?
    /// Whether some servers have not removed their resources in the present pass.
    private var hasFailed = false
    /// The conditions that have delayed requests in the present pass.
    private var needs: ConditionSet = []
    /// Whether some of these conditions were not read yet.
    private var awaitsConditions = false
    /// Whether the present pass must be followed by another one.
    private var mustRepeat = false
    private(set) var isBusy = false

    init(_ runtime: any Runtime, _ surroundings: Surroundings) {
        (self.runtime, self.surroundings) = (runtime, surroundings)
    }

    func close() {
        timer.stop()
        request = nil
    }

    /// Begins a pass over the list.
    func remove() {
        mustRepeat = isBusy
        guard !isBusy else { return }
        (isBusy, hasFailed, needs, awaitsConditions) = (true, false, [], false)
        readNext(after: "")
    }

    /// Begins a pass, if an earlier one lacked conditions that are read now.
    func conditionsChanged() { if awaitsConditions { remove() } }

    private func readNext(after url: String) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.uploads.abandoned(after: url, limit: Self.batchSize)
            },
            then: { [unowned self] result in
                guard case .success(let found) = result, !found.isEmpty else { return end() }
                batch = found[...]
                return sendNext()
            })
    }

    private func sendNext() -> [EngineEffect] {
        guard let (upload, configuration) = batch.first else { return [] }
        let sending = surroundings.send(upload, configuration) { [unowned self] status in
            request = nil
            return answered(upload, status)
        }
        switch sending {
        case .sent(let sent):
            request = sent
            return []
        case .held(let conditions, let isRead):
            needs.formUnion(conditions)
            if !isRead { awaitsConditions = true }
            return answered(upload, nil)
        case .failed: return answered(upload, nil)
        }
    }

    private func answered(_ upload: AbandonedUpload, _ status: Int32?) -> [EngineEffect] {
        guard upload.isOver(after: status, now: runtime.clocks.wallMilliseconds) else {
            hasFailed = true
            return proceed(after: upload)
        }
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.uploads.forget(upload)
            }, then: { [unowned self] _ in proceed(after: upload) })
        return []
    }

    private func proceed(after upload: AbandonedUpload) -> [EngineEffect] {
        batch = batch.dropFirst()
        guard batch.isEmpty else { return sendNext() }
        readNext(after: upload.url)
        return []
    }

    private func end() -> [EngineEffect] {
        isBusy = false
        surroundings.setNeeds(needs)
        if mustRepeat {
            remove()
        } else if hasFailed {
            timer.start(milliseconds: Self.retryMilliseconds)
        }
        return [.mayBeIdle]
    }
}
