internal import Backhaul
public import Foundation
public import FoundationNetworking

/// What was measured of a task: URLSessionTaskMetrics.
public final class BackgroundURLSessionTaskMetrics: NSObject, Sendable {
    /// From the start of the first try to the end of the last.
    public let taskInterval: DateInterval
    /// One for each try, redirects included; of very many the first and the newest.
    public let transactionMetrics: [BackgroundURLSessionTaskTransactionMetrics]
    /// Of all tries.
    public let redirectCount: Int

    init(_ attempts: [Attempt], request: URLRequest?, _ ending: TaskEnding) {
        let last = attempts.last?.number
        transactionMetrics = attempts.map {
            BackgroundURLSessionTaskTransactionMetrics($0, request, $0.number == last ? ending.response : nil)
        }
        redirectCount = attempts.reduce(0) { $0 + $1.redirects }
        let start = transactionMetrics.first?.fetchStartDate ?? Date()
        let end = transactionMetrics.compactMap { $0.responseEndDate ?? $0.fetchStartDate }.max() ?? start
        taskInterval = DateInterval(start: start, end: max(start, end))
    }
}

/// What was measured of one try: URLSessionTaskTransactionMetrics. Dates are nil when that was not reached, or not
/// needed because a connection was used again.
public final class BackgroundURLSessionTaskTransactionMetrics: NSObject, Sendable {
    /// With the URL of the last request of the try, after redirects.
    public let request: URLRequest?
    /// Of the last try of a task.
    public let response: URLResponse?
    public let fetchStartDate: Date?
    public let domainLookupStartDate: Date?
    public let domainLookupEndDate: Date?
    public let connectStartDate: Date?
    /// TCP, or the proxy's tunnel; `secureConnectionEndDate` is later, where Apple's includes it here.
    public let connectEndDate: Date?
    public let secureConnectionStartDate: Date?
    public let secureConnectionEndDate: Date?
    public let requestStartDate: Date?
    public let requestEndDate: Date?
    public let responseStartDate: Date?
    public let responseEndDate: Date?
    /// "h2" or "http/1.1".
    public let networkProtocolName: String?
    public let isProxyConnection: Bool
    public let isReusedConnection: Bool
    public let countOfRequestHeaderBytesSent: Int64
    public let countOfRequestBodyBytesSent: Int64
    public let countOfResponseHeaderBytesReceived: Int64
    public let countOfResponseBodyBytesReceived: Int64
    public let localAddress: String?
    public let localPort: Int?
    public let remoteAddress: String?
    public let remotePort: Int?
    /// "TLSv1.3"; Apple's is a number of its own.
    public let negotiatedTLSProtocolVersion: String?
    /// "TLS_AES_256_GCM_SHA384"; Apple's is a number of its own.
    public let negotiatedTLSCipherSuite: String?
    /// Not Apple's: from 1.
    public let number: Int
    /// Not Apple's: why this try failed.
    public let error: URLError?

    init(_ attempt: Attempt, _ original: URLRequest?, _ answer: URLResponse?) {
        let start = Date(timeIntervalSince1970: Double(attempt.startedMilliseconds) / 1000)
        func date(_ duration: Duration?) -> Date? {
            duration.map { start.addingTimeInterval($0 / .seconds(1)) }
        }
        var sent = original
        if let url = URL(string: attempt.url) { sent?.url = url }
        request = sent
        response = answer
        fetchStartDate = start
        domainLookupStartDate = attempt.domainLookup == nil ? nil : start
        domainLookupEndDate = date(attempt.domainLookup)
        connectStartDate = attempt.connect == nil ? nil : date(attempt.domainLookup) ?? start
        connectEndDate = date(attempt.connect)
        secureConnectionStartDate = attempt.secureConnection == nil ? nil : date(attempt.connect) ?? start
        secureConnectionEndDate = date(attempt.secureConnection)
        requestStartDate = date(attempt.requestStart)
        requestEndDate = date(attempt.requestEnd)
        responseStartDate = date(attempt.responseStart)
        responseEndDate = date(attempt.responseEnd)
        networkProtocolName = attempt.networkProtocol
        isProxyConnection = attempt.isProxyConnection
        isReusedConnection = attempt.isReusedConnection
        countOfRequestHeaderBytesSent = Int64(clamping: attempt.requestHeaderBytes)
        countOfRequestBodyBytesSent = Int64(clamping: attempt.requestBodyBytes)
        countOfResponseHeaderBytesReceived = Int64(clamping: attempt.responseHeaderBytes)
        countOfResponseBodyBytesReceived = Int64(clamping: attempt.responseBodyBytes)
        localAddress = attempt.localAddress
        localPort = attempt.localAddress == nil ? nil : attempt.localPort
        remoteAddress = attempt.remoteAddress
        remotePort = attempt.remoteAddress == nil ? nil : attempt.remotePort
        negotiatedTLSProtocolVersion = attempt.tlsVersion
        negotiatedTLSCipherSuite = attempt.tlsCipher
        number = attempt.number
        error = attempt.error.map { urlError($0, URL(string: attempt.url)) }
    }
}
