import Backhaul

/// A download or an upload to enqueue.
struct Transfer {
    var request: Request
    /// The position of the URL in a list, such as "list:3". Nil for other transfers.
    var place: String?
    /// Whether the line of the list has headers, which the library may refuse.
    var hasOwnOptions = false
    /// The number of an ended transfer to the same file. The present transfer replaces or repeats the ended one. The
    /// number becomes part of the key.
    var former: TaskID?

    var url: String { request.url }
    /// The path of the file. Nil for an upload.
    var destination: String? { request.destination }
    var replaces: Bool { request.ifExists == .replace }

    /// The idempotency key. It is made from the destination, so that a repeated command finds the same task. Nil if the
    /// path is too long for a key. Nil for an upload, because the user may want to send the same upload again.
    var key: String? {
        guard let destination else { return nil }
        let key = request.isNamedByServer ? "into:" + destination + ":" + url : "file:" + destination
        let former = former.map { "after:\($0):" } ?? ""
        let range = RangeOption.text(of: request).map { "range:\($0):" } ?? ""
        let whole = former + range + key
        return whole.utf8.count <= 255 ? whole : nil
    }

    /// A sentence about the options that the request has, but that a transfer that was found in its place does not
    /// take. Nil if there are none.
    func keptOptions(_ found: TaskID, _ context: Context) -> String? {
        var changes: [String] = []
        if request.policy?.bytesPerSecond != nil { changes.append(context.command("rate", "BYTES", "\(found)")) }
        if request.priority != 0 { changes.append(context.command("priority", "NUMBER", "\(found)")) }
        if request.policy.map({ $0.constraints != Constraints() }) == true {
            changes.append(context.command("constrain", "\(found)"))
        }
        if request.earliestStartMilliseconds != nil || request.latestStartMilliseconds != nil {
            changes.append(context.command("reschedule", "\(found)"))
        }
        if changes.isEmpty { return nil }
        return
            "Transfer \(found) was found: it was enqueued before, and keeps its rate, priority, constraints and start "
            + "times. Change them with: " + changes.joined(separator: ", ")
    }

    /// A transfer that was enqueued before.
    init(_ task: TaskInfo) {
        request = Request(url: task.url)
        request.destination = task.destination
    }

    init(request: Request, place: String? = nil, hasOwnOptions: Bool = false) {
        self.request = request
        self.place = place
        self.hasOwnOptions = hasOwnOptions
    }

    var keyedRequest: Request {
        var request = request
        request.idempotencyKey = key
        return request
    }

    /// Splits a key into the key of the first transfer to the same file, and the number that was in `former`.
    static func parts(ofKey key: String) -> (first: String, former: TaskID?) {
        let parts = key.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "after", let former = UInt64(parts[1]) else { return (key, nil) }
        return (String(parts[2]), TaskID(rawValue: former))
    }
}
