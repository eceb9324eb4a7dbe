public import Backhaul
public import Foundation
public import FoundationNetworking

/// The configuration of a background session (Apple: URLSessionConfiguration).
///
/// A session copies its configuration, so later changes of the configuration do not change the session. The *engine*,
/// which is usually a separate process, performs the transfers and stores the configuration. If a property of Apple's
/// class is not supported, this class does not have the property, and a program that uses it does not compile.
public final class BackgroundURLSessionConfiguration: NSObject {
    /// The name of the session in its application: 1 to 255 bytes of UTF-8 without control characters.
    public let identifier: String?

    /// Whether transfers are discretionary. If true, they run only while the machine has external power and is cool,
    /// and while the network is unmetered and not slow. The command `backhaul why` shows the reason why a task waits.
    public var isDiscretionary = false

    /// Whether transfers may use a cellular network. If `allowsCellularAccess` of a request is false, the transfer of
    /// this request uses no cellular network.
    public var allowsCellularAccess = true

    /// Whether transfers may run while the network is metered.
    public var allowsExpensiveNetworkAccess = true

    /// The same as `allowsExpensiveNetworkAccess`, because Linux has only one flag for metered networks. If one of
    /// these two properties is false, transfers wait while the network is metered.
    public var allowsConstrainedNetworkAccess = true

    /// This property has no effect, as on Apple's systems, because background sessions always wait for connectivity.
    public var waitsForConnectivity = false

    /// Whether the engine launches the program when all tasks of the session have ended, or when a server demands a
    /// credential.
    public var sessionSendsLaunchEvents = true

    /// The longest time in which no byte is received or sent, in seconds. After this time, the engine starts the
    /// transfer again. When `timeoutIntervalForResource` has passed, the task fails. A value of 0, or of more than one
    /// day, is replaced by one day.
    public var timeoutIntervalForRequest: TimeInterval = 60

    /// The longest time from the first `resume` of a task to the end of the task, in seconds. Default: 7 days. A value
    /// of 0, or of more than ten years, is replaced by ten years.
    public var timeoutIntervalForResource: TimeInterval = 604_800

    /// The largest number of connections to one server: 1 to 256. Any other number is replaced by the nearest valid
    /// number. Over HTTP/2, tasks share one connection.
    public var httpMaximumConnectionsPerHost = 6

    /// Header fields for all requests. A field is sent with each request that has no field of the same name. The
    /// engine itself sets some fields, such as `Host`. These fields are ignored here and in the fields of a request.
    public var httpAdditionalHeaders: [AnyHashable: Any]?

    /// Whether the session has cookies. With `.never`, no cookies are stored or sent. With other values, the session
    /// stores its own cookies. These cookies are also used in later runs of the program. The session does not use the
    /// cookies of `HTTPCookieStorage.shared`, because they exist only in this process, and the engine cannot read them.
    public var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain

    /// False has the same effect as `HTTPCookie.AcceptPolicy.never`.
    public var httpShouldSetCookies = true

    /// The proxy, with the keys of CFNetwork. These are `HTTPEnable`, `HTTPProxy`, `HTTPPort`, the same keys with
    /// `HTTPS` and `SOCKS`, `ExceptionsList`, `kCFProxyUsernameKey` and `kCFProxyPasswordKey`.
    ///
    /// An empty dictionary means no proxy. Nil means the proxies of the engine's environment. The session uses one
    /// proxy for all schemes. A dictionary with several different proxies, or with automatic proxies, has no effect.
    /// `unhonored` then contains the name of this property.
    public var connectionProxyDictionary: [AnyHashable: Any]?

    /// Not in Apple's API: a function that changes the configuration that the engine stores. The function is called
    /// after all other properties were applied, and can change every setting.
    public var adjustment: (@Sendable (inout SessionConfiguration) -> Void)?

    /// Not in Apple's API: the largest number of tasks that run at the same time, at most 1,024. Nil: 64.
    public var maximumRunningTasks: Int?

    /// Not in Apple's API: whether tasks are discretionary if they are resumed in a program that the engine has
    /// launched. On Apple's systems, such tasks are always discretionary.
    public var isDiscretionaryIfLaunched = false

    /// Not in Apple's API: a file of PEM certificates that are trusted in place of the system's certificates.
    public var caFile: URL?

    /// Not in Apple's API: whether the delegate is called for a response with status 401 or 407. False: the task fails
    /// immediately after such a response.
    public var asksForCredentials = true

    private init(identifier: String) { self.identifier = identifier }

    /// A configuration for a session whose transfers continue while the program does not run.
    public class func background(withIdentifier identifier: String) -> BackgroundURLSessionConfiguration {
        BackgroundURLSessionConfiguration(identifier: identifier)
    }

    /// The names of the properties that have no effect, because their values are not supported. Only
    /// "connectionProxyDictionary" can be in this list.
    public var unhonored: [String] {
        var names: [String] = []
        if let connectionProxyDictionary, Proxy(dictionary: connectionProxyDictionary) == nil {
            names.append("connectionProxyDictionary")
        }
        return names
    }

    /// Returns an independent copy.
    public override func copy() -> Any {
        let copy = BackgroundURLSessionConfiguration(identifier: identifier ?? "")
        copy.isDiscretionary = isDiscretionary
        copy.allowsCellularAccess = allowsCellularAccess
        copy.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
        copy.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
        copy.waitsForConnectivity = waitsForConnectivity
        copy.isDiscretionaryIfLaunched = isDiscretionaryIfLaunched
        copy.sessionSendsLaunchEvents = sessionSendsLaunchEvents
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest
        copy.timeoutIntervalForResource = timeoutIntervalForResource
        copy.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
        copy.httpAdditionalHeaders = httpAdditionalHeaders
        copy.httpCookieAcceptPolicy = httpCookieAcceptPolicy
        copy.httpShouldSetCookies = httpShouldSetCookies
        copy.connectionProxyDictionary = connectionProxyDictionary
        copy.adjustment = adjustment
        copy.maximumRunningTasks = maximumRunningTasks
        copy.caFile = caFile
        copy.asksForCredentials = asksForCredentials
        return copy
    }

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
        remembered.rules.requestTimeout = timeout(timeoutIntervalForRequest, atMost: 86_400)
        remembered.rules.resourceTimeout = timeout(timeoutIntervalForResource, atMost: 315_360_000)
        remembered.tls.caFile = caFile?.path
        remembered.sendsLaunchEvents = sessionSendsLaunchEvents
        remembered.asksForCredentials = asksForCredentials
        remembered.cookies = httpShouldSetCookies && httpCookieAcceptPolicy != .never ? .persistent : .never
        remembered.constraints.preset = isDiscretionary ? .discretionary : nil
        remembered.constraints.networks = allowsCellularAccess ? nil : .withoutCellular
        remembered.constraints.requiresUnmetered =
            allowsExpensiveNetworkAccess && allowsConstrainedNetworkAccess ? nil : true
        remembered.isDiscretionaryIfLaunched = isDiscretionaryIfLaunched
        remembered.proxy = connectionProxyDictionary.flatMap { Proxy(dictionary: $0) } ?? Proxy()
        adjustment?(&remembered)
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
