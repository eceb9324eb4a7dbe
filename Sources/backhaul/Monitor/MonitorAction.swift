import Backhaul

/// A change of transfers.
enum MonitorAction: Equatable {
    case suspend, resume, retry, cancel
    case priority(Int32)
    case rate(UInt64)

    /// The word for the changed transfers.
    var participle: String {
        switch self {
        case .suspend: "suspended"
        case .resume: "resumed"
        case .retry: "tried again"
        case .cancel: "cancelled"
        case .priority(Request.priorityNow): "first of all"
        case .priority, .rate(0): "changed"
        case .rate: "limited"
        }
    }

    func verb(_ ids: [TaskID]) throws(BackhaulError) -> Verb<Backhaul.Session, UInt64> {
        switch self {
        case .suspend: try .suspend(.ids(ids))
        case .resume: try .resume(TaskSelection(ids: ids, states: [.suspended]))
        case .retry: try .resume(TaskSelection(ids: ids, states: [.waiting]))
        case .cancel: try .cancel(.ids(ids))
        case .priority(let priority): try .setPriority(priority, .ids(ids))
        case .rate(let rate): try .setRate(rate, .ids(ids))
        }
    }

    /// Performs the change. No other part of the screen changes transfers.
    /// - Returns: A sentence about the result.
    func perform(_ keys: [RowKey], _ application: Application) throws(CommandError) -> String {
        var count: UInt64 = 0
        for (key, transfers) in Dictionary(grouping: keys, by: \.session) {
            do {
                let session = try application.other(key.application).attach(key.name, role: .produce)
                count += try session.run(try verb(transfers.map(\.id)))
            } catch {
                guard case .failure(let failure) = error else { throw error }
                return failure.message
            }
        }
        return count == 0
            ? "nothing to do: no chosen transfer can be \(participle)"
            : "\(Text.count(Int(clamping: count), "transfer")) \(participle)"
    }
}
