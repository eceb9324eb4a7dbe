internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// The key of a task that was made here, from which its identifier is known in each event and listing.
private let keyPrefix = "urlsession-"

/// Set by the engine, and so passed over, as Apple's sessions do. Range is refused: without it another file would come.
private let ignoredHeaders: Set<String> = [
    "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
]

/// Numbers that no earlier run of the program has given: microseconds since 1970, one more each time.
private let lastIdentifier = Locked(0)

func nextTaskIdentifier() -> Int {
    let now = Int(clamping: Int64(Date().timeIntervalSince1970 * 1_000_000))
    return lastIdentifier.with { last in
        last = max(last + 1, now)
        return last
    }
}

/// Of a task that came back; those that were enqueued by other means have the engine's number.
func taskIdentifier(key: String?, id: TaskID) -> Int {
    if let key, key.hasPrefix(keyPrefix), let number = Int(key.dropFirst(keyPrefix.count)) { return number }
    return Int(clamping: id)
}

/// What is handed over for a task, or why it cannot be.
func engineRequest(
    _ request: URLRequest?, _ identifier: Int, _ inner: TaskInner, _ configuration: BackgroundURLSessionConfiguration
) throws(URLError) -> Request {
    guard let request, let url = request.url else { throw URLError(.badURL) }
    guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
        throw refusal(.unsupportedURL, "Background sessions speak http and https only.", url)
    }
    let isGet = request.httpMethod == nil || request.httpMethod == "GET"
    guard request.httpBodyStream == nil, request.httpBody == nil || inner.body == nil && !isGet else {
        throw refusal(
            .unsupportedURL, "A download by GET has no body, none has a stream, and an upload has its body from a file "
                + "or from data.", url)
    }
    var result = Request(url: url.absoluteString, idempotencyKey: keyPrefix + "\(identifier)")
    result.body = inner.body ?? request.httpBody.map { .bytes(Array($0)) }
    if inner.body == nil && result.body != nil { result.destination = try downloadPath(identifier, url) }
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
    if !request.allowsCellularAccess {
        result.policy = Policy()
        result.policy?.constraints.networks = .withoutCellular
    }
    return result
}

/// Where the file of a download with a body is made: to the engine a body without a destination is an upload.
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

/// Whether the file is one of `downloadPath`: what the delegate leaves there is removed here, not by the engine.
func isOwnDownload(_ location: URL, of identifier: Int) -> Bool {
    location.lastPathComponent == downloadName(identifier)
}

/// Of Unix time; nil for what was before it, which is over, and for what is no time.
func milliseconds(_ date: Date) -> Int64? {
    let milliseconds = date.timeIntervalSince1970 * 1000
    return milliseconds >= 1 && milliseconds < 1e15 ? Int64(milliseconds) : nil
}

private func refusal(_ code: URLError.Code, _ message: String, _ url: URL) -> URLError {
    URLError(code, userInfo: [NSLocalizedDescriptionKey: message, NSURLErrorFailingURLErrorKey: url])
}

func label(_ userData: [UInt8]?) -> String? { userData.flatMap { String(validating: $0, as: UTF8.self) } }

extension TaskEnding {
    /// The last answer, when there was one.
    var response: URLResponse? {
        guard let httpStatus, let url = URL(string: finalURL ?? url) else { return nil }
        // Fields of one name are one, whatever its letters' case (RFC 9110, section 5.3).
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
