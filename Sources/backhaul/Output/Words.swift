import Backhaul

/// A type whose values have words in options, tables and JSON. The words are those of bh_name.
protocol Worded: Hashable {
    static var words: [(word: String, value: Self)] { get }
}

extension Worded {
    var word: String { Self.words.first { $0.value == self }?.word ?? "unknown" }
}

extension String {
    /// Whether a text that the user gave is this word. The user may write hyphens in place of underscores.
    func isWord(_ text: some StringProtocol) -> Bool {
        self == text || self == String(text).replacing("-", with: "_")
    }
}

extension Worded where Self: OptionSet {
    /// The words of the members.
    var members: [String] { Self.words.filter { isSuperset(of: $0.value) && !$0.value.isEmpty }.map(\.word) }
}

extension Optional where Wrapped: Worded {
    /// The word of the value. A value from a newer version of the library is nil.
    var word: String { self?.word ?? "unknown" }
}

extension TaskState: Worded {
    static let words: [(word: String, value: TaskState)] = [
        ("waiting", .waiting), ("running", .running), ("suspended", .suspended), ("succeeded", .succeeded),
        ("failed", .failed), ("cancelled", .cancelled),
    ]
}

extension TaskKind: Worded {
    static let words: [(word: String, value: TaskKind)] = [("download", .download), ("upload", .upload)]
}

extension WaitingReason.Code: Worded {
    static let words: [(word: String, value: WaitingReason.Code)] = [
        ("slot", .slot), ("suspended", .suspended), ("retry", .retry), ("connecting", .connecting),
        ("stalled", .stalled), ("disk", .disk), ("disk_full", .diskFull), ("credential", .credential),
        ("connectivity", .connectivity), ("rate", .rate), ("power", .power), ("battery", .battery), ("heat", .heat),
        ("pressure", .pressure), ("metered", .metered), ("network", .network), ("throughput", .throughput),
        ("earliest_start", .earliestStart), ("quiet_hours", .quietHours), ("budget", .budget), ("sleep", .sleep),
        ("portal", .portal), ("storage", .storage), ("clock", .clock), ("origin", .origin),
        ("dependency", .dependency),
    ]
}

extension BackhaulError.Domain: Worded {
    static let words: [(word: String, value: BackhaulError.Domain)] = [
        ("none", .noDetail), ("system", .system), ("curl", .curl), ("sqlite", .sqlite), ("http", .http),
        ("process", .process),
    ]
}

extension Challenge.Kind: Worded {
    static let words: [(word: String, value: Challenge.Kind)] = [
        ("server", .server), ("proxy", .proxy), ("refresh", .refresh),
    ]
}

extension Challenge.Schemes: Worded {
    static let words: [(word: String, value: Challenge.Schemes)] = [
        ("basic", .basic), ("bearer", .bearer), ("digest", .digest), ("negotiate", .negotiate), ("other", .other),
    ]
}

extension LaunchState: Worded {
    static let words: [(word: String, value: LaunchState)] = [
        ("none", .notNeeded), ("due", .due), ("running", .running), ("gave_up", .gaveUp),
    ]
}

extension Condition.Kind: Worded {
    static let words: [(word: String, value: Condition.Kind)] = [
        ("external_power", .externalPower), ("battery", .battery), ("thermal_state", .thermalState),
        ("cpu_pressure", .cpuPressure), ("io_pressure", .ioPressure), ("memory_pressure", .memoryPressure),
        ("network", .network), ("metered", .metered), ("connectivity", .connectivity), ("sleep", .sleep),
        ("throughput", .throughput),
    ]
}

extension RetryErrors: Worded {
    static let words: [(word: String, value: RetryErrors)] = [
        ("name", .name), ("connection", .connection), ("lost", .lost), ("timeout", .timeout), ("tls", .tls),
        ("status", .status), ("bad_response", .badResponse), ("none", []),
    ]
}

extension Tolerances: Worded {
    static let words: [(word: String, value: Tolerances)] = [
        ("missing_close_notify", .missingCloseNotify), ("early_response", .earlyResponse),
    ]
}

extension HTTPVersion: Worded {
    static let words: [(word: String, value: HTTPVersion)] = [
        ("http1.1", .http1_1), ("http2", .http2), ("http2-prior-knowledge", .http2PriorKnowledge),
    ]
}

extension TLSVersion: Worded {
    static let words: [(word: String, value: TLSVersion)] = [("tlsv1.2", .tls1_2), ("tlsv1.3", .tls1_3)]
}

extension RedirectPolicy: Worded {
    static let words: [(word: String, value: RedirectPolicy)] = [
        ("follow", .follow), ("same_origin", .sameOrigin), ("none", .never),
    ]
}

extension ResumableUploads: Worded {
    static let words: [(word: String, value: ResumableUploads)] = [
        ("never", .never), ("automatic", .automatic), ("ietf", .ietf), ("tus", .tus), ("apple", .apple),
    ]
}

extension Preset: Worded {
    static let words: [(word: String, value: Preset)] = [("discretionary", .discretionary), ("overnight", .overnight)]
}

extension NetworkKinds: Worded {
    static let words: [(word: String, value: NetworkKinds)] = [
        ("ethernet", .ethernet), ("wifi", .wifi), ("cellular", .cellular), ("bluetooth", .bluetooth),
        ("tunnel", .tunnel), ("other", .other),
    ]
}

extension ThermalState: Worded {
    /// "critical" is no value of `--maximum-heat`, because no task runs on a machine that is critically hot.
    static let words: [(word: String, value: ThermalState)] = [
        ("nominal", .nominal), ("fair", .fair), ("serious", .serious),
    ]
}

extension Activity.QualityOfService: Worded {
    static let words: [(word: String, value: Activity.QualityOfService)] = [
        ("background", .background), ("utility", .utility), ("user_initiated", .userInitiated),
    ]
}

extension CookiePolicy: Worded {
    static let words: [(word: String, value: CookiePolicy)] = [
        ("none", .never), ("memory", .memory), ("persistent", .persistent),
    ]
}

extension Refresh: Worded {
    static let words: [(word: String, value: Refresh)] = [("headers", .headers), ("url", .url)]
}

extension ExistsPolicy: Worded {
    static let words: [(word: String, value: ExistsPolicy)] = [
        ("fail", .fail), ("replace", .replace), ("skip", .skip),
    ]
}

extension Body.Source: Worded {
    static let words: [(word: String, value: Body.Source)] = [
        ("reference", .reference), ("snapshot", .snapshot), ("consume", .consume),
    ]
}
