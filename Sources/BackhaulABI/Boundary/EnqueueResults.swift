internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises room for as many results as it says.

/// The out parameters of an enqueue, both optional.
struct EnqueueResults {
    private let results: UnsafeMutableBufferPointer<bh_enqueued>
    private let applied: UnsafeMutablePointer<Int>?

    init(_ results: UnsafeMutablePointer<bh_enqueued>?, room: Int, _ applied: UnsafeMutablePointer<Int>?) {
        self.results = UnsafeMutableBufferPointer(start: results, count: room)
        self.applied = applied
    }

    /// What became of the requests; those that `enqueued` does not reach are not applied. A failure that names one
    /// request is that request's, and one that names none is that of all that were not applied.
    func fill(_ enqueued: EnqueuedList, _ failure: Failure?) {
        applied?.pointee = enqueued.appliedPrefix
        var items = enqueued.makeIterator()
        for index in results.indices {
            let item = items.next() ?? Enqueued(task: .zero, disposition: .notApplied)
            results[index] = bh_enqueued(
                task_id: item.task.rawValue, disposition: item.disposition.rawValue,
                status: EnqueueResults.status(of: item, at: index, failure).rawValue)
        }
    }

    private static func status(of item: Enqueued, at index: Int, _ failure: Failure?) -> Status {
        guard item.disposition == .notApplied, let failure else { return .ok }
        guard let named = failure.index else { return failure.status }
        return named == UInt64(index) ? failure.status : .ok
    }
}
