public import Backhaul
public import Foundation
public import FoundationNetworking

/// How a background session works: URLSessionConfiguration, as far as its properties are honored. A session copies it;
/// later changes have no effect on that session. Properties of Apple's that are missing here are not honored yet, and
/// so do not compile.
public final class BackgroundURLSessionConfiguration: NSObject {
    /// Names the session within the application: 1 to 255 bytes of UTF-8 without control characters.
    public let identifier: String?

    /// The system decides when: on external power and an unmetered network, while the machine is cool and the link is
    /// not slow. The command `backhaul why` tells what a task waits for.
    public var isDiscretionary = false

    /// False: nothing is transferred over a cellular network. A request's own `allowsCellularAccess` may forbid it,
    /// too.
    public var allowsCellularAccess = true

    /// False: nothing is transferred while the network is metered.
    public var allowsExpensiveNetworkAccess = true

    /// As `allowsExpensiveNetworkAccess`: here a network is metered or not, whether by its kind or by its user's wish.
    public var allowsConstrainedNetworkAccess = true

    /// Has no effect, as on Apple's systems: background sessions always wait.
    public var waitsForConnectivity = false

    /// Whether the program is launched when the session's tasks have ended or a server asks for a credential.
    public var sessionSendsLaunchEvents = true

    /// Seconds without a byte from the server; the transfer is then tried again, until `timeoutIntervalForResource`. 0,
    /// or more than a day: a day.
    public var timeoutIntervalForRequest: TimeInterval = 60

    /// Seconds from the first `resume` to the end, all attempts included. 7 days. 0, or more than ten years: ten years.
    public var timeoutIntervalForResource: TimeInterval = 604_800

    /// From 1 to 256; others stand for the nearest of these. Over HTTP/2 tasks share one connection.
    public var httpMaximumConnectionsPerHost = 6

    /// Sent with each request that has no such header itself. Those that the engine sets are ignored, as in a request.
    public var httpAdditionalHeaders: [AnyHashable: Any]?

    /// `.never`: no cookies are kept or sent. Both others: a jar of the session's own, which later starts of the
    /// program find again. It is not `HTTPCookieStorage.shared`, which this process alone has.
    public var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain

    /// False: as `.never`.
    public var httpShouldSetCookies = true

    /// As CFNetwork's: `HTTPEnable`, `HTTPProxy`, `HTTPPort`, the same with `HTTPS` and `SOCKS`, `ExceptionsList`,
    /// `kCFProxyUsernameKey`, `kCFProxyPasswordKey`. Empty: no proxy. Nil: as the environment of the engine says. One
    /// proxy serves all schemes; what cannot be said so is not honored: see `unhonored`.
    public var connectionProxyDictionary: [AnyHashable: Any]?

    /// Not Apple's: changes whatever else the engine remembers of the session, at last.
    public var adjustment: (@Sendable (inout SessionConfiguration) -> Void)?

    /// Not Apple's: how many tasks run at the same time, at most 1,024; nil: 64.
    public var maximumRunningTasks: Int?

    /// Not Apple's: whether tasks that a launched program resumes are discretionary, as Apple's always are.
    public var isDiscretionaryIfLaunched = false

    /// Not Apple's: the certificates (PEM) to trust instead of the system's.
    public var caFile: URL?

    /// Not Apple's: whether a 401 or 407 asks the delegate. False: it is a failure of the task at once.
    public var asksForCredentials = true

    private init(identifier: String) { self.identifier = identifier }

    /// For sessions whose transfers go on while the program does not run.
    public class func background(withIdentifier identifier: String) -> BackgroundURLSessionConfiguration {
        BackgroundURLSessionConfiguration(identifier: identifier)
    }

    /// What was asked for and cannot be honored, by name: "connectionProxyDictionary". Empty when all is.
    public var unhonored: [String] {
        var names: [String] = []
        if let connectionProxyDictionary, Proxy(dictionary: connectionProxyDictionary) == nil {
            names.append("connectionProxyDictionary")
        }
        return names
    }

    /// An independent copy.
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

    /// What the engine remembers of it.
    var remembered: SessionConfiguration {
        var remembered = SessionConfiguration(identifier: identifier ?? "")
        change(&remembered)
        return remembered
    }

    /// Makes what is remembered what is wanted.
    func change(_ remembered: inout SessionConfiguration) {
        remembered.connectionsPerOrigin = min(max(httpMaximumConnectionsPerHost, 1), 256)
        if let maximumRunningTasks { remembered.maximumRunningTasks = maximumRunningTasks }
        remembered.rules.requestTimeout = timeout(timeoutIntervalForRequest, atMost: 86_400)
        remembered.rules.resourceTimeout = timeout(timeoutIntervalForResource, atMost: 315_360_000)
        remembered.tls.caFile = caFile?.path
        remembered.sendsLaunchEvents = sessionSendsLaunchEvents
        remembered.asksForCredentials = asksForCredentials
        remembered.cookies = httpShouldSetCookies && httpCookieAcceptPolicy != .never ? .persistent : CookiePolicy.none
        remembered.constraints.preset = isDiscretionary ? .discretionary : nil
        remembered.constraints.networks = allowsCellularAccess ? nil : .withoutCellular
        remembered.constraints.requiresUnmetered =
            allowsExpensiveNetworkAccess && allowsConstrainedNetworkAccess ? nil : true
        remembered.isDiscretionaryIfLaunched = isDiscretionaryIfLaunched
        remembered.proxy = connectionProxyDictionary.flatMap { Proxy(dictionary: $0) } ?? Proxy()
        adjustment?(&remembered)
    }

    /// Those with a text as name and value, as Apple's.
    var additionalHeaders: [Header] {
        (httpAdditionalHeaders ?? [:]).compactMap { name, value in
            (name.base as? String).map { Header(name: $0, value: "\(value)") }
        }.sorted { $0.name < $1.name }
    }
}

extension NetworkKinds {
    static let withoutCellular = NetworkKinds.all.subtracting(.cellular)
}

/// At least a millisecond. What is no time is no limit, as Apple's programs mean it, and so as long as the engine can.
private func timeout(_ seconds: TimeInterval, atMost longest: Double) -> Duration {
    .milliseconds(Int64(seconds > 0 && seconds < longest ? max(1, seconds * 1000) : longest * 1000))
}

/// A number that is no time stays one that the engine refuses.
func duration(_ seconds: TimeInterval) -> Duration {
    guard seconds.isFinite, seconds > 0 else { return .zero }
    return .milliseconds(Int64(min(seconds, 1e9) * 1000))
}
