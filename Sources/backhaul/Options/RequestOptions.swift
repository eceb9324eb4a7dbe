import Backhaul

/// The options of `get`, `add` and `put` that apply to each of their requests.
struct RequestOptions {
    static let descriptions =
        [
            OptionDescription("request", "X", "METHOD", "the request's method"),
            OptionDescription("header", "H", "'NAME: VALUE'", "send this header; may be repeated"),
            OptionDescription("header-file", nil, "FILE", "headers, one a line; '-' is standard input"),
            RangeOption.description,
            OptionDescription("group", nil, "NAME", "add the transfers to this group", kind: .group),
            OptionDescription(
                "priority", nil, "NUMBER|now", "-100 to 100, higher runs first (0); now: beyond the session's limits"),
            OptionDescription(
                "refresh", nil, "headers|url", "what expires; `challenges` shows when a new one is needed"),
            OptionDescription("expires-in", nil, "SECONDS", "when it expires; without this, a response shows it"),
        ].map { $0.section(.request) } + StartOptions.descriptions + DependencyOptions.descriptions
        + CurlOptions.descriptions

    private let method: String?
    private let headers: [Header]
    private let group: String?
    private let priority: Int32
    private let refresh: Refresh?
    private let expires: Int64?
    private let policy: Policy?
    private let start: StartOptions
    private let range: RangeOption
    private let dependencies: DependencyOptions
    /// Whether the body comes from the response to another transfer.
    var takesBody: Bool { dependencies.givesBody }

    init(_ arguments: Arguments) throws(CommandError) {
        method = arguments.value("request")
        var headers: [Header] = []
        for text in arguments.all("header") { headers.append(try InputFile.header(text)) }
        for file in arguments.all("header-file") { headers += try InputFile.headers(file) }
        self.headers = headers
        group = arguments.value("group")
        priority = try RequestOptions.priority(arguments) ?? 0
        refresh = try arguments.choice("refresh", Refresh.self) ?? nil
        expires = try arguments.futureTime(after: "expires-in")
        if expires != nil && refresh == nil { throw .usage("--expires-in goes with --refresh") }
        start = try StartOptions(arguments)
        range = try RangeOption(arguments)
        dependencies = try DependencyOptions(arguments)
        policy = try SettingOptions(arguments, Setting.transferSettings).policy
    }

    static func priority(_ arguments: Arguments) throws(CommandError) -> Int32? {
        if arguments.value("priority") == "now" { return Request.priorityNow }
        return try arguments.number("priority", in: -100...100).map { Int32($0) }
    }

    func request(_ url: String, destination: String?) -> Request {
        var request = Request(url: url)
        request.destination = destination
        request.headers = headers
        request.priority = priority
        request.method = method
        request.group = group
        request.refresh = refresh
        request.expiresMilliseconds = expires
        request.policy = policy
        start.change(&request)
        range.change(&request)
        dependencies.change(&request)
        return request
    }
}
