internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// The key of a task that was made here, from which its identifier is known in each event and listing.
private let keyPrefix = "urlsession-"

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
    guard request.httpBody == nil, request.httpBodyStream == nil, isGet || inner.body != nil else {
        throw refusal(
            .unsupportedURL, "A background download is a GET request without a body, and an upload has its body from "
                + "a file or from data.", url)
    }
    var result = Request(url: url.absoluteString, idempotencyKey: keyPrefix + "\(identifier)")
    result.body = inner.body
    result.method = isGet ? nil : request.httpMethod
    let own = request.allHTTPHeaderFields ?? [:]
    let names = Set(own.keys.map { $0.lowercased() })
    result.headers =
        own.sorted { $0.key < $1.key }.map { Header(name: $0.key, value: $0.value) }
        + configuration.additionalHeaders.filter { !names.contains($0.name.lowercased()) }
    result.userData = inner.label.map { Array($0.utf8) }
    result.priority = inner.enginePriority
    result.earliestStartMilliseconds = inner.earliestBegin.flatMap(milliseconds)
    result.expectedBytesSent = inner.guessToSend > 0 ? UInt64(inner.guessToSend) : nil
    result.expectedBytesReceived = inner.guessToReceive > 0 ? UInt64(inner.guessToReceive) : nil
    if !request.allowsCellularAccess {
        result.policy = Policy()
        result.policy?.networks = .withoutCellular
    }
    return result
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
        var fields = Dictionary(headers.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        if let mediaType { fields["Content-Type"] = mediaType }
        if path != nil { fields["Content-Length"] = "\(size)" }
        return HTTPURLResponse(url: url, statusCode: httpStatus, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}
