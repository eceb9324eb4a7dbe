internal import Backhaul
public import Foundation
public import FoundationNetworking

/// The metrics of a task (Apple: URLSessionTaskMetrics). An *attempt* is one run of the task.
public final class BackgroundURLSessionTaskMetrics: NSObject, Sendable {
    /// The time from the start of the first attempt to the end of the last attempt.
    public let taskInterval: DateInterval
    /// The metrics of each attempt, including its redirects. If there were more than 100 attempts, the list has the
    /// first attempt and the 99 newest ones.
    public let transactionMetrics: [BackgroundURLSessionTaskTransactionMetrics]
    /// The number of redirects in all attempts together.
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

/// The metrics of one attempt (Apple: URLSessionTaskTransactionMetrics). If the attempt did not reach a step, the date
/// of this step is nil. If the attempt reused a connection, the dates of the skipped steps are nil.
public final class BackgroundURLSessionTaskTransactionMetrics: NSObject, Sendable {
    /// The request, with the URL after the redirects of this attempt.
    public let request: URLRequest?
    /// The response, if this is the last attempt of the task. Otherwise nil.
    public let response: URLResponse?
    /// The time at which the last request of the attempt started.
    public let fetchStartDate: Date?
    /// The time at which the lookup of the server's name started.
    public let domainLookupStartDate: Date?
    /// The time at which the server's name was resolved.
    public let domainLookupEndDate: Date?
    /// The time at which the connection was started.
    public let connectStartDate: Date?
    /// The time at which the TCP connection or the proxy's tunnel was ready. Unlike on Apple's systems, this time does
    /// not include the TLS handshake, so `secureConnectionEndDate` is later.
    public let connectEndDate: Date?
    /// The time at which the TLS handshake started.
    public let secureConnectionStartDate: Date?
    /// The time at which the TLS handshake was complete.
    public let secureConnectionEndDate: Date?
    /// The time at which the engine began to send the request.
    public let requestStartDate: Date?
    /// The time at which the last byte of the request's body was sent.
    public let requestEndDate: Date?
    /// The time at which the first byte of the response was received.
    public let responseStartDate: Date?
    /// The time at which the last byte of the response was received.
    public let responseEndDate: Date?
    /// The protocol's name in RFC 7301, such as "h2" or "http/1.1".
    public let networkProtocolName: String?
    /// Whether the connection led to a proxy.
    public let isProxyConnection: Bool
    /// Whether the attempt used a connection that was already open.
    public let isReusedConnection: Bool
    /// The size of the sent header fields.
    public let countOfRequestHeaderBytesSent: Int64
    /// The number of sent bytes of the request's body.
    public let countOfRequestBodyBytesSent: Int64
    /// The size of the received header fields.
    public let countOfResponseHeaderBytesReceived: Int64
    /// The number of received bytes of the response's body.
    public let countOfResponseBodyBytesReceived: Int64
    /// The address of this machine. Nil if there was no connection.
    public let localAddress: String?
    /// The port on this machine. Nil if there was no connection.
    public let localPort: Int?
    /// The address of the server or proxy. Nil if there was no connection.
    public let remoteAddress: String?
    /// The port of the server or proxy. Nil if there was no connection.
    public let remotePort: Int?
    /// The version of TLS, such as "TLSv1.3". On Apple's systems, the version is a number.
    public let negotiatedTLSProtocolVersion: String?
    /// The cipher suite, such as "TLS_AES_256_GCM_SHA384". On Apple's systems, the cipher suite is a number.
    public let negotiatedTLSCipherSuite: String?
    /// Not Apple's: the number of the attempt in its task, from 1.
    public let number: Int
    /// Not Apple's: why the attempt failed. Nil if it succeeded.
    public let error: URLError?

    init(_ attempt: Attempt, _ original: URLRequest?, _ response: URLResponse?) {
        let start = Date(timeIntervalSince1970: Double(attempt.startedMilliseconds) / 1000)
        func date(_ duration: Duration?) -> Date? {
            duration.map { start.addingTimeInterval($0 / .seconds(1)) }
        }
        var sent = original
        if let url = URL(string: attempt.url) { sent?.url = url }
        request = sent
        self.response = response
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
