internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// The start of the idempotency key of each task that this module enqueues (stores). The rest of the key is the
/// `taskIdentifier`. Each event and each listing of the task has the key, and so also the identifier.
private let keyPrefix = "urlsession-"

/// Header fields that are ignored, as in Apple's sessions, because the engine sets them. The *engine*, usually a
/// separate process, performs the transfers. Range is not in this list: the engine refuses a request with Range. If
/// Range were ignored, the program would get other bytes than it requested.
private let ignoredHeaders: Set<String> = [
    "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
]

/// The identifier that the newest task got. An identifier is the time in microseconds since 1970, but at least the
/// previous identifier plus 1. So two runs of the program do not use the same identifier.
private let lastIdentifier = Locked(0)

func nextTaskIdentifier() -> Int {
    let now = Int(clamping: Int64(Date().timeIntervalSince1970 * 1_000_000))
    return lastIdentifier.with { last in
        last = max(last + 1, now)
        return last
    }
}

/// The identifier of a task in an event or listing. If the task was enqueued with another API of the library, the
/// identifier is the engine's number of the task.
func taskIdentifier(key: String?, id: TaskID) -> Int {
    if let key, key.hasPrefix(keyPrefix), let number = Int(key.dropFirst(keyPrefix.count)) { return number }
    return Int(clamping: id.rawValue)
}

/// Converts the request of a task to a request for the engine. Throws if the request is not supported.
func engineRequest(
    _ request: URLRequest?, _ identifier: Int, _ inner: TaskInner, _ configuration: BackgroundURLSessionConfiguration
) throws(URLError) -> Request {
    guard let request, let url = request.url else { throw refusal(.unsupportedURL, "The request has no URL.", nil) }
    guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
        throw refusal(.unsupportedURL, "Background sessions support only http and https URLs.", url)
    }
    let isGet = request.httpMethod == nil || request.httpMethod == "GET"
    // An upload ignores the body of the request, as on Apple's systems.
    let downloadBody = inner.body == nil ? request.httpBody : nil
    guard inner.body != nil || request.httpBodyStream == nil else {
        throw refusal(.unsupportedURL, "Background sessions do not support body streams; use httpBody.", url)
    }
    guard !isGet || downloadBody == nil else {
        throw refusal(.dataLengthExceedsMaximum, "A GET request cannot have a body.", url)
    }
    try checkSizes(inner, downloadBody, url)
    var result = Request(url: url.absoluteString, idempotencyKey: keyPrefix + "\(identifier)")
    result.body = inner.body ?? downloadBody.map { .bytes(Array($0)) }
    if downloadBody != nil { result.destination = try downloadPath(identifier, url) }
    result.method = isGet ? nil : request.httpMethod
    let own = request.allHTTPHeaderFields ?? [:]
    let names = Set(own.keys.map { $0.lowercased() })
    result.headers =
        (own.sorted { $0.key < $1.key }.map { Header(name: $0.key, value: $0.value) }
        + configuration.additionalHeaders.filter { !names.contains($0.name.lowercased()) })
        .filter { !ignoredHeaders.contains($0.name.lowercased()) }
    result.userData = inner.label.map { Array($0.utf8) }
    result.priority = inner.enginePriority
    result.earliestStartMilliseconds = inner.earliestBegin.flatMap(milliseconds)
    result.expectedBytesSent = inner.guessToSend > 0 ? UInt64(inner.guessToSend) : nil
    result.expectedBytesReceived = inner.guessToReceive > 0 ? UInt64(inner.guessToReceive) : nil
    result.policy = policy(request)
    return result
}

/// Refuses data that are too large for the engine, in the words of this module.
private func checkSizes(_ inner: TaskInner, _ downloadBody: Data?, _ url: URL) throws(URLError) {
    if let label = inner.label, label.utf8.count > Request.largestUserData {
        throw refusal(
            .dataLengthExceedsMaximum,
            "The taskDescription has \(label.utf8.count) bytes; give at most \(Request.largestUserData).", url)
    }
    var size = downloadBody?.count ?? 0
    if case .bytes(let bytes) = inner.body { size = bytes.count }
    guard size <= Request.largestBody else {
        throw refusal(
            .dataLengthExceedsMaximum,
            "The body has \(size) bytes; give at most \(Request.largestBody), or upload a file.", url)
    }
}

/// The settings that a request has in place of the session's settings. Nil if it has none.
private func policy(_ request: URLRequest) -> Policy? {
    var policy = Policy()
    if !request.allowsCellularAccess { policy.constraints.networks = .withoutCellular }
    // The time-out of a request that does not set it is 60 seconds. So this value means the session's time-out.
    if request.timeoutInterval != 60 { policy.rules.requestTimeout = requestTimeout(request.timeoutInterval) }
    return policy == Policy() ? nil : policy
}

/// The destination of a download with a body. The engine treats a request with a body and without a destination as an
/// upload.
private func downloadPath(_ identifier: Int, _ url: URL) throws(URLError) -> String {
    do {
        let caches = try FileManager.default.url(
            for: .cachesDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        let folder = caches.appendingPathComponent("backhaul").appendingPathComponent(
            BackgroundApplication.shared.options.identifier)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent(downloadName(identifier)).path
    } catch {
        throw refusal(.cannotCreateFile, "The directory for the file cannot be made: \(error)", url)
    }
}

private func downloadName(_ identifier: Int) -> String { "download-\(identifier)" }

/// Whether the file is at `downloadPath`. If the delegate does not move such a file, this module removes it, because
/// the engine does not remove it.
func isOwnDownload(_ location: URL, of identifier: Int) -> Bool {
    location.lastPathComponent == downloadName(identifier)
        && (try? downloadPath(identifier, location)) == location.path
}

/// Converts a date to Unix time in milliseconds. The result is nil for NaN, for infinity, and for a date before 1970.
func milliseconds(_ date: Date) -> Int64? {
    let milliseconds = date.timeIntervalSince1970 * 1000
    return milliseconds >= 1 && milliseconds < 1e15 ? Int64(milliseconds) : nil
}

func refusal(_ code: URLError.Code, _ message: String, _ url: URL?) -> URLError {
    URLError(code, userInfo: failing(url).merging([NSLocalizedDescriptionKey: message]) { _, new in new })
}

func label(_ userData: [UInt8]?) -> String? { userData.flatMap { String(validating: $0, as: UTF8.self) } }

extension TaskInner {
    mutating func fill(_ info: TaskInfo) {
        // Until its last delegate call, a task that has ended has the state `running` or `canceling`.
        state = info.state == .suspended ? .suspended : info.state == .cancelled ? .canceling : .running
        suspensions = info.state == .suspended ? 1 : 0
        label = BackhaulFoundation.label(info.userData)
        priority = Float(info.priority) / 200 + 0.5
        received = Int64(clamping: info.offset)
        expected = info.size.map { Int64(clamping: $0) } ?? BackgroundURLSessionTransferSizeUnknown
        sent = Int64(clamping: info.bodySent)
        expectedToSend = Int64(clamping: info.bodySize)
        earliestBegin = info.earliestStartMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        guessToSend = info.expectedBytesSent.map { Int64(clamping: $0) } ?? BackgroundURLSessionTransferSizeUnknown
        response = info.response
        guessToReceive =
            info.expectedBytesReceived.map { Int64(clamping: $0) } ?? BackgroundURLSessionTransferSizeUnknown
    }
}

extension TaskInfo {
    /// The response of a running task, without the header fields, which the engine stores at the task's end. Nil before
    /// the response.
    var response: URLResponse? {
        guard state == .running, let httpStatus, 200...299 ~= httpStatus, let url = URL(string: url) else { return nil }
        let fields = size.map { ["Content-Length": "\($0)"] }
        return HTTPURLResponse(url: url, statusCode: httpStatus, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}

extension TaskEnding {
    /// The last response. Nil if there was no response.
    var response: URLResponse? {
        guard let httpStatus, let url = URL(string: finalURL ?? url) else { return nil }
        // Fields with the same name are combined into one field (RFC 9110, section 5.3). Case does not matter in names.
        var names: [String: String] = [:]
        var fields: [String: String] = [:]
        for header in headers {
            let name = names[header.name.lowercased(), default: header.name]
            names[header.name.lowercased()] = name
            fields[name] = fields[name].map { "\($0), \(header.value)" } ?? header.value
        }
        if let mediaType { fields[names["content-type", default: "Content-Type"]] = mediaType }
        if path != nil { fields[names["content-length", default: "Content-Length"]] = "\(size)" }
        return HTTPURLResponse(url: url, statusCode: httpStatus, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}
