public import Backhaul
public import Foundation
public import FoundationNetworking

/// The configuration of a background session (Apple: URLSessionConfiguration).
///
/// A session copies its configuration, so later changes of the configuration do not change the session. The *engine*,
/// which is usually a separate process, performs the transfers and stores the configuration. If a property of Apple's
/// class has no effect here, its description says so. A few properties, such as the TLS versions, are absent.
public final class BackgroundURLSessionConfiguration: NSObject, NSCopying, Sendable {
    /// The name of the session in its application: 1 to 255 bytes of UTF-8 without control characters.
    public let identifier: String?

    /// The values of the properties.
    private struct Values {
        var isDiscretionary = false
        var allowsCellularAccess = true
        var allowsExpensiveNetworkAccess = true
        var allowsConstrainedNetworkAccess = true
        var waitsForConnectivity = false
        var sessionSendsLaunchEvents = true
        var timeoutIntervalForRequest: TimeInterval = 60
        var timeoutIntervalForResource: TimeInterval = 604_800
        var httpMaximumConnectionsPerHost = 6
        var httpAdditionalHeaders: [AnyHashable: Any]?
        var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
        var httpShouldSetCookies = true
        var connectionProxyDictionary: [AnyHashable: Any]?
        var adjustment: (@Sendable (inout SessionConfiguration) -> Void)?
        var maximumRunningTasks: Int?
        var isDiscretionaryIfLaunched = false
        var caFile: URL?
        var asksForCredentials = true
        /// Nil: the default, which is the shared storage.
        var httpCookieStorage: HTTPCookieStorage??
        var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
        var urlCache: URLCache?
        var urlCredentialStorage: URLCredentialStorage?
        var networkServiceType = URLRequest.NetworkServiceType.default
        var httpShouldUsePipelining = false
        var shouldUseExtendedBackgroundIdleMode = false
        var sharedContainerIdentifier: String?
        var protocolClasses: [AnyClass]?
    }

    private let values: Locked<Values>

    private subscript<Value>(_ path: WritableKeyPath<Values, Value>) -> Value {
        get { values.with { $0[keyPath: path] } }
        set { values.with { $0[keyPath: path] = newValue } }
    }

    /// Whether transfers are discretionary. If true, they run only while the machine has external power and is cool,
    /// and while the network is unmetered and not slow. The command `backhaul why` shows the reason why a task waits.
    public var isDiscretionary: Bool {
        get { self[\.isDiscretionary] }
        set { self[\.isDiscretionary] = newValue }
    }

    /// Whether transfers may use a cellular network. If `allowsCellularAccess` of a request is false, the transfer of
    /// this request uses no cellular network.
    public var allowsCellularAccess: Bool {
        get { self[\.allowsCellularAccess] }
        set { self[\.allowsCellularAccess] = newValue }
    }

    /// Whether transfers may run while the network is metered.
    public var allowsExpensiveNetworkAccess: Bool {
        get { self[\.allowsExpensiveNetworkAccess] }
        set { self[\.allowsExpensiveNetworkAccess] = newValue }
    }

    /// The same as `allowsExpensiveNetworkAccess`, because Linux has only one flag for metered networks. If one of
    /// these two properties is false, transfers wait while the network is metered.
    public var allowsConstrainedNetworkAccess: Bool {
        get { self[\.allowsConstrainedNetworkAccess] }
        set { self[\.allowsConstrainedNetworkAccess] = newValue }
    }

    /// This property has no effect, as on Apple's systems, because background sessions always wait for connectivity.
    public var waitsForConnectivity: Bool {
        get { self[\.waitsForConnectivity] }
        set { self[\.waitsForConnectivity] = newValue }
    }

    /// Whether the engine launches the program when all tasks of the session have ended, or when a server demands a
    /// credential.
    public var sessionSendsLaunchEvents: Bool {
        get { self[\.sessionSendsLaunchEvents] }
        set { self[\.sessionSendsLaunchEvents] = newValue }
    }

    /// The longest time in which no byte is received or sent, in seconds. After this time, the engine starts the
    /// transfer again. When `timeoutIntervalForResource` has passed, the task fails. A value of 0, or of more than one
    /// day, is replaced by one day.
    public var timeoutIntervalForRequest: TimeInterval {
        get { self[\.timeoutIntervalForRequest] }
        set { self[\.timeoutIntervalForRequest] = newValue }
    }

    /// The longest time from the first `resume` of a task to the end of the task, in seconds. Default: 7 days. A value
    /// of 0, or of more than ten years, is replaced by ten years.
    public var timeoutIntervalForResource: TimeInterval {
        get { self[\.timeoutIntervalForResource] }
        set { self[\.timeoutIntervalForResource] = newValue }
    }

    /// The largest number of connections to one server: 1 to 256. Any other number is replaced by the nearest valid
    /// number. Over HTTP/2, tasks share one connection.
    public var httpMaximumConnectionsPerHost: Int {
        get { self[\.httpMaximumConnectionsPerHost] }
        set { self[\.httpMaximumConnectionsPerHost] = newValue }
    }

    /// Header fields for all requests. A field is sent with each request that has no field of the same name. The
    /// engine itself sets some fields, such as `Host`. These fields are ignored here and in the fields of a request.
    public var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { self[\.httpAdditionalHeaders] }
        set { self[\.httpAdditionalHeaders] = newValue }
    }

    /// Whether the session has cookies. With `.never`, no cookies are stored or sent. With other values, the session
    /// stores its own cookies. These cookies are also used in later runs of the program. The session does not use the
    /// cookies of `HTTPCookieStorage.shared`, because they exist only in this process, and the engine cannot read them.
    public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { self[\.httpCookieAcceptPolicy] }
        set { self[\.httpCookieAcceptPolicy] = newValue }
    }

    /// False has the same effect as `HTTPCookie.AcceptPolicy.never`.
    public var httpShouldSetCookies: Bool {
        get { self[\.httpShouldSetCookies] }
        set { self[\.httpShouldSetCookies] = newValue }
    }

    /// The storage of cookies. Nil: the session has no cookies, as with `HTTPCookie.AcceptPolicy.never`. With each
    /// other value, the engine stores the session's cookies, and does not read or write the cookies of this object.
    public var httpCookieStorage: HTTPCookieStorage? {
        get { self[\.httpCookieStorage] ?? .shared }
        set { self[\.httpCookieStorage] = .some(newValue) }
    }

    /// This property has no effect, because the engine has no cache.
    public var requestCachePolicy: URLRequest.CachePolicy {
        get { self[\.requestCachePolicy] }
        set { self[\.requestCachePolicy] = newValue }
    }

    /// This property has no effect, because the engine has no cache. Default: nil, as for Apple's background sessions.
    public var urlCache: URLCache? {
        get { self[\.urlCache] }
        set { self[\.urlCache] = newValue }
    }

    /// This property has no effect, because the engine cannot read the program's credentials. The delegate responds to
    /// challenges.
    public var urlCredentialStorage: URLCredentialStorage? {
        get { self[\.urlCredentialStorage] }
        set { self[\.urlCredentialStorage] = newValue }
    }

    /// This property has no effect.
    public var networkServiceType: URLRequest.NetworkServiceType {
        get { self[\.networkServiceType] }
        set { self[\.networkServiceType] = newValue }
    }

    /// This property has no effect, because the engine sends the next request of a connection after the response.
    public var httpShouldUsePipelining: Bool {
        get { self[\.httpShouldUsePipelining] }
        set { self[\.httpShouldUsePipelining] = newValue }
    }

    /// This property has no effect, because the engine's connections do not depend on the program.
    public var shouldUseExtendedBackgroundIdleMode: Bool {
        get { self[\.shouldUseExtendedBackgroundIdleMode] }
        set { self[\.shouldUseExtendedBackgroundIdleMode] = newValue }
    }

    /// This property has no effect, because all programs of a user can use the same store.
    public var sharedContainerIdentifier: String? {
        get { self[\.sharedContainerIdentifier] }
        set { self[\.sharedContainerIdentifier] = newValue }
    }

    /// This property has no effect, as on Apple's systems: background sessions do not use protocols of the program.
    public var protocolClasses: [AnyClass]? {
        get { self[\.protocolClasses] }
        set { self[\.protocolClasses] = newValue }
    }

    /// The proxy, with the keys of CFNetwork. These are `HTTPEnable`, `HTTPProxy`, `HTTPPort`, the same keys with
    /// `HTTPS` and `SOCKS`, `ExceptionsList`, `kCFProxyUsernameKey` and `kCFProxyPasswordKey`.
    ///
    /// An empty dictionary means no proxy. Nil means the proxies of the engine's environment. The session uses one
    /// proxy for all schemes. A dictionary with several different proxies, or with automatic proxies, has no effect.
    /// `unhonored` then contains the name of this property.
    public var connectionProxyDictionary: [AnyHashable: Any]? {
        get { self[\.connectionProxyDictionary] }
        set { self[\.connectionProxyDictionary] = newValue }
    }

    /// Not in Apple's API: a function that changes the configuration that the engine stores. The function is called
    /// after all other properties were applied, and can change every setting.
    public var adjustment: (@Sendable (inout SessionConfiguration) -> Void)? {
        get { self[\.adjustment] }
        set { self[\.adjustment] = newValue }
    }

    /// Not in Apple's API: the largest number of tasks that run at the same time, at most 1,024. Nil: 64.
    public var maximumRunningTasks: Int? {
        get { self[\.maximumRunningTasks] }
        set { self[\.maximumRunningTasks] = newValue }
    }

    /// Not in Apple's API: whether tasks are discretionary if they are resumed in a program that the engine has
    /// launched. On Apple's systems, such tasks are always discretionary.
    public var isDiscretionaryIfLaunched: Bool {
        get { self[\.isDiscretionaryIfLaunched] }
        set { self[\.isDiscretionaryIfLaunched] = newValue }
    }

    /// Not in Apple's API: a file of PEM certificates that are trusted in place of the system's certificates.
    public var caFile: URL? {
        get { self[\.caFile] }
        set { self[\.caFile] = newValue }
    }

    /// Not in Apple's API: whether the delegate is called for a response with status 401 or 407. False: the task fails
    /// immediately after such a response.
    public var asksForCredentials: Bool {
        get { self[\.asksForCredentials] }
        set { self[\.asksForCredentials] = newValue }
    }

    private init(identifier: String?, _ values: Values) {
        self.identifier = identifier
        self.values = Locked(values)
    }

    /// A configuration for a session whose transfers continue while the program does not run.
    public class func background(withIdentifier identifier: String) -> BackgroundURLSessionConfiguration {
        BackgroundURLSessionConfiguration(identifier: identifier, Values())
    }

    /// Not available, because each background session has an identifier.
    @available(*, unavailable, message: "Backhaul has only background sessions: use background(withIdentifier:).")
    public class var `default`: BackgroundURLSessionConfiguration { background(withIdentifier: "") }

    /// Not available, because each background session has an identifier.
    @available(*, unavailable, message: "Backhaul has only background sessions: use background(withIdentifier:).")
    public class var ephemeral: BackgroundURLSessionConfiguration { background(withIdentifier: "") }

    /// The names of the properties that have no effect, because their values are not supported. Properties whose
    /// descriptions say that they never change a transfer, such as `networkServiceType`, are not in this list.
    public var unhonored: [String] {
        var names: [String] = []
        if let connectionProxyDictionary, Proxy(dictionary: connectionProxyDictionary) == nil {
            names.append("connectionProxyDictionary")
        }
        if let storage = self[\.httpCookieStorage] ?? nil, storage !== HTTPCookieStorage.shared {
            names.append("httpCookieStorage")
        }
        if urlCache != nil { names.append("urlCache") }
        if urlCredentialStorage != nil { names.append("urlCredentialStorage") }
        return names
    }

    /// Returns an independent copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        BackgroundURLSessionConfiguration(identifier: identifier, values.with { $0 })
    }

    /// Returns an independent copy.
    public override func copy() -> Any { copy(with: nil) }

    /// The configuration that the engine stores for a new session.
    var remembered: SessionConfiguration {
        var remembered = SessionConfiguration(identifier: identifier ?? "")
        change(&remembered)
        return remembered
    }

    /// Applies the properties to the configuration that the engine has stored.
    func change(_ remembered: inout SessionConfiguration) {
        remembered.connectionsPerOrigin = min(max(httpMaximumConnectionsPerHost, 1), 256)
        if let maximumRunningTasks { remembered.maximumRunningTasks = maximumRunningTasks }
        remembered.rules.requestTimeout = requestTimeout(timeoutIntervalForRequest)
        remembered.rules.resourceTimeout = timeout(timeoutIntervalForResource, atMost: 315_360_000)
        remembered.tls.caFile = caFile?.path
        remembered.sendsLaunchEvents = sessionSendsLaunchEvents
        remembered.asksForCredentials = asksForCredentials
        let hasCookies = httpShouldSetCookies && httpCookieAcceptPolicy != .never && hasCookieStorage
        remembered.cookies = hasCookies ? .persistent : .never
        remembered.constraints.preset = isDiscretionary ? .discretionary : nil
        remembered.constraints.networks = allowsCellularAccess ? nil : .withoutCellular
        remembered.constraints.requiresUnmetered =
            allowsExpensiveNetworkAccess && allowsConstrainedNetworkAccess ? nil : true
        remembered.isDiscretionaryIfLaunched = isDiscretionaryIfLaunched
        remembered.proxy = connectionProxyDictionary.flatMap { Proxy(dictionary: $0) } ?? Proxy()
        adjustment?(&remembered)
    }

    private var hasCookieStorage: Bool {
        if case .some(nil) = self[\.httpCookieStorage] { false } else { true }
    }

    /// The additional header fields. As on Apple's systems, a name that is not a string is ignored.
    var additionalHeaders: [Header] {
        (httpAdditionalHeaders ?? [:]).compactMap { name, value in
            (name.base as? String).map { Header(name: $0, value: "\(value)") }
        }.sorted { $0.name < $1.name }
    }
}

extension NetworkKinds {
    static let withoutCellular = NetworkKinds.all.subtracting(.cellular)
}

/// The engine's time-out for one request.
func requestTimeout(_ seconds: TimeInterval) -> Duration { timeout(seconds, atMost: 86_400) }

/// Converts a time-out in seconds to a duration of at least a millisecond. 0, a negative number, NaN and infinity
/// become `longest`, because programs for Apple's systems use them for "no limit".
private func timeout(_ seconds: TimeInterval, atMost longest: Double) -> Duration {
    .milliseconds(Int64(seconds > 0 && seconds < longest ? max(1, seconds * 1000) : longest * 1000))
}

/// Converts seconds to a duration. A number that is not a time, such as NaN, becomes 0, which the engine refuses.
func duration(_ seconds: TimeInterval) -> Duration {
    guard seconds.isFinite, seconds > 0 else { return .zero }
    return .milliseconds(Int64(min(seconds, 1e9) * 1000))
}
