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

    /// The applied prefix, and after it why nothing more was applied. A failure that names one request is that request's;
    /// the others are merely not applied. One that names none is everyone's.
    func fill(_ enqueued: [Enqueued], _ failure: Failure?) {
        applied?.pointee = enqueued.count
        for index in results.indices {
            results[index] =
                index < enqueued.count
                ? bh_enqueued(
                    task_id: enqueued[index].task.rawValue, disposition: enqueued[index].disposition.rawValue,
                    status: Status.ok.rawValue)
                : bh_enqueued(
                    task_id: 0, disposition: Int32(BH_ENQUEUE_NOT_APPLIED),
                    status: EnqueueResults.status(of: index, failure).rawValue)
        }
    }

    private static func status(of index: Int, _ failure: Failure?) -> Status {
        guard let failure else { return .ok }
        guard let named = failure.index else { return failure.status }
        return named == UInt64(index) ? failure.status : .ok
    }
}
