// Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
internal import CBackhaul

/// When a failed attempt is repeated. Nil stands for the default.
public struct RetryPolicy: Hashable, Sendable {
    /// After this many attempts in a row without a new stored byte, the task fails. Default: no limit; the attempts end
    /// with the resource time-out.
    public var maximumAttempts: Int?
    /// Default 1,000 ms: delay after the first failed attempt. The delay doubles with each further failed attempt. At
    /// most 86,400,000 (a day).
    public var firstDelay: Duration?
    /// Default 600,000 ms: the longest delay after a failed attempt; at most 86,400,000, and not less than
    /// `firstDelay`.
    public var longestDelay: Duration?
    /// Default 50: the random part of each delay; 1 to 100.
    public var jitterPercent: Int?
    /// Default: all errors except `RetryErrors.badResponse`.
    public var errors: RetryErrors?
    /// `true`: requests whose method is not idempotent (POST, PATCH; RFC 9110, section 9.2.2) are repeated even if a
    /// server may have acted on them. `false`, the default: such requests are repeated only if no server can have acted
    /// on them.
    public var unsafeMethods: Bool?
    /// Default "408,425,429,500,502-504,520-530": the HTTP statuses, and ranges of statuses, for `RetryErrors.status`.
    /// The statuses 403, 413, 429 and 5xx except 511 with Retry-After count as well.
    public var statuses: String?

    /// Makes a value in which all properties stand for the default.
    public init() {}

    // Unsafe: the pointers are valid, because their batch is released only after its items are copied.
    init(_ value: bh_retry_policy) {
        maximumAttempts = number(value.maximum_attempts)
        firstDelay = duration(value.first_delay_ms)
        longestDelay = duration(value.longest_delay_ms)
        jitterPercent = number(value.jitter_percent)
        errors = RetryErrors.of(value.errors)
        unsafeMethods = choice(value.unsafe_methods)
        statuses = text(value.statuses)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_retry_policy {
        var value = bh_retry_policy()
        value.maximum_attempts = try positive(maximumAttempts, "maximumAttempts")
        value.first_delay_ms = try positive(firstDelay, "firstDelay")
        value.longest_delay_ms = try positive(longestDelay, "longestDelay")
        value.jitter_percent = try positive(jitterPercent, "jitterPercent")
        value.errors = errors?.value ?? 0
        value.unsafe_methods = choice(unsafeMethods)
        value.statuses = try arena.optionalString(statuses, "statuses")
        return value
    }
}

/// Which responses are accepted, and how long a task waits for them. Nil stands for the default.
public struct TransferRules: Hashable, Sendable {
    /// Default 60,000 ms: the longest time without a byte in either direction (Apple: timeoutIntervalForRequest); at
    /// most 86,400,000 (a day).
    public var requestTimeout: Duration?
    /// Version of HTTP. Default: HTTP/2 over TLS if the server supports it, else HTTP/1.1.
    public var httpVersion: HTTPVersion?
    /// Default 604,800,000 ms (7 days): the longest time from the enqueue to the end of the task (Apple:
    /// timeoutIntervalForResource). Time in which the task is suspended does not count. At most 315,360,000,000 (ten
    /// years).
    public var resourceTimeout: Duration?
    /// Which redirects are followed (RFC 9110, section 15.4). Default: `RedirectPolicy.follow`.
    public var redirects: RedirectPolicy?
    /// Default 20; at most 100.
    public var maximumRedirects: Int?
    /// Default "200-299": the accepted statuses and ranges of statuses. Any other status is a failure. The body of an
    /// accepted response is the file. The file is empty for 204, 205 and 304, and for a response to HEAD. 206 is
    /// accepted if 200 is accepted.
    public var acceptedStatuses: String?
    /// Limit of a file's size in bytes; a larger file fails with `Status.tooLarge`. Default: no limit.
    public var maximumSize: UInt64?
    /// The accepted media types of a file, such as "image/png, application/zip". As in the field Accept (RFC 9110,
    /// section 12.5.1), the subtype or both may be an asterisk; parameters are not allowed. The bytes of another type
    /// are not received, and the task fails with `Status.unexpectedType`. A response without Content-Type has the type
    /// application/octet-stream. Default: all types, except for pages that come in place of the file (docs/http.md) or
    /// of the response to an upload (docs/uploads.md).
    public var acceptedTypes: String?
    /// `true`: no connection is made to a private address (this machine, its local networks, addresses of a cloud's
    /// metadata), also after a redirect. The task fails with `Status.addressRefused`. The engine checks the address of
    /// each connection, so a name that later resolves to another address is no way around the check. A proxy makes its
    /// connections itself (docs/transport.md). Default: `false`.
    public var refusesPrivateAddresses: Bool?
    /// How an upload continues after an interruption. Default: `ResumableUploads.automatic`.
    public var resumableUploads: ResumableUploads?
    /// For s3://bucket/key: the URL of a server of S3, such as "https://minio.example:9000". Default: AWS, or the
    /// endpoint of the environment or of the profile (docs/s3.md).
    public var s3Endpoint: String?
    /// For s3://bucket/key, such as "eu-central-1". Default: the region of the environment or of the profile, or
    /// us-east-1.
    public var s3Region: String?
    /// For s3://bucket/key: the profile in the files of AWS. Default: AWS_PROFILE, or "default".
    public var s3Profile: String?
    /// For s3://bucket/key: a command for /bin/sh that prints credentials as JSON, as credential_process of AWS does.
    /// Default: the places in docs/s3.md.
    public var s3CredentialCommand: String?
    /// For s3://bucket/key: `true`: the bucket is in the path of the URL, and not in the name of the server. Default:
    /// `true` with an endpoint and for names of buckets with a dot.
    public var s3PathStyle: Bool?

    /// Makes a value in which all properties stand for the default.
    public init() {}

    // Unsafe: the pointers are valid, because their batch is released only after its items are copied.
    init(_ value: bh_transfer_rules) {
        requestTimeout = duration(value.request_timeout_ms)
        httpVersion = HTTPVersion(rawValue: value.http_version)
        resourceTimeout = duration(value.resource_timeout_ms)
        redirects = RedirectPolicy(rawValue: value.redirects)
        maximumRedirects = number(value.maximum_redirects)
        acceptedStatuses = text(value.accepted_statuses)
        maximumSize = nonzero(value.maximum_size)
        acceptedTypes = text(value.accepted_types)
        refusesPrivateAddresses = choice(value.refuses_private_addresses)
        resumableUploads = ResumableUploads(rawValue: value.resumable_uploads)
        s3Endpoint = text(value.s3_endpoint)
        s3Region = text(value.s3_region)
        s3Profile = text(value.s3_profile)
        s3CredentialCommand = text(value.s3_credential_command)
        s3PathStyle = choice(value.s3_path_style)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_transfer_rules {
        var value = bh_transfer_rules()
        value.request_timeout_ms = try positive(requestTimeout, "requestTimeout")
        value.http_version = httpVersion?.rawValue ?? 0
        value.resource_timeout_ms = try positive(resourceTimeout, "resourceTimeout")
        value.redirects = redirects?.rawValue ?? 0
        value.maximum_redirects = try positive(maximumRedirects, "maximumRedirects")
        value.accepted_statuses = try arena.optionalString(acceptedStatuses, "acceptedStatuses")
        value.maximum_size = maximumSize ?? 0
        value.accepted_types = try arena.optionalString(acceptedTypes, "acceptedTypes")
        value.refuses_private_addresses = choice(refusesPrivateAddresses)
        value.resumable_uploads = resumableUploads?.rawValue ?? 0
        value.s3_endpoint = try arena.optionalString(s3Endpoint, "s3Endpoint")
        value.s3_region = try arena.optionalString(s3Region, "s3Region")
        value.s3_profile = try arena.optionalString(s3Profile, "s3Profile")
        value.s3_credential_command = try arena.optionalString(s3CredentialCommand, "s3CredentialCommand")
        value.s3_path_style = choice(s3PathStyle)
        return value
    }
}

/// What a task demands of the system. While the system does not meet a constraint, the task is *held*: it does not run.
/// In structs that the library returns, the constraints have the values that the host has set; their defaults are not
/// filled in. If the session and the request have different values for a constraint, the stricter value applies. Nil
/// stands for the default.
public struct Constraints: Hashable, Sendable {
    /// A predefined set of constraints (see `Constraints`). Default: no constraints.
    public var preset: Preset?
    /// `true`: held while the machine runs on battery.
    public var requiresExternalPower: Bool?
    /// `true`: held while the network is metered: data may cost money (Apple: allowsExpensiveNetworkAccess and
    /// allowsConstrainedNetworkAccess).
    public var requiresUnmetered: Bool?
    /// The permitted kinds of network; default: all (Apple's allowsCellularAccess = false: all but
    /// `NetworkKinds.cellular`).
    public var networks: NetworkKinds?
    /// 1 to 100: tasks are held while the machine runs on battery and the battery's charge is below this value. A held
    /// task waits until the charge is 5 percentage points above this value, or the machine has external power.
    public var minimumBatteryPercent: Int?
    /// Tasks are held while the machine is hotter than this state; default `ThermalState.serious`.
    public var maximumThermalState: ThermalState?
    /// 1 to 100: limit of the pressure, which is the percentage of the last ten seconds in which a process waited for a
    /// processor (/proc/pressure); default: no limit.
    public var maximumCPUPressurePercent: Int?
    /// As `maximumCPUPressurePercent`, but for processes that waited for a disk.
    public var maximumIOPressurePercent: Int?
    /// As `maximumCPUPressurePercent`, but for processes that waited for memory.
    public var maximumMemoryPressurePercent: Int?
    /// If an origin or the network is slower than this value for `slowAfter`, tasks are held. After `slowPause`, the
    /// engine starts one task to measure the throughput again: a slow probe. Both times are set in
    /// `SessionConfiguration`. Default: no minimum.
    public var minimumBytesPerSecond: UInt64?
    /// Hours of local time in which tasks are held: "22:00-06:30", or several with days: "mon-fri 08:00-18:00, sat
    /// 10:00-14:00". Hours such as 22:00-06:30 end on the next day. Default: none.
    public var quietHours: String?

    /// Makes a value in which all properties stand for the default.
    public init() {}

    // Unsafe: the pointers are valid, because their batch is released only after its items are copied.
    init(_ value: bh_constraints) {
        preset = Preset(rawValue: value.preset)
        requiresExternalPower = choice(value.requires_external_power)
        requiresUnmetered = choice(value.requires_unmetered)
        networks = NetworkKinds.of(value.networks)
        minimumBatteryPercent = number(value.minimum_battery_percent)
        maximumThermalState = ThermalState(rawValue: value.maximum_thermal_state)
        maximumCPUPressurePercent = number(value.maximum_cpu_pressure_percent)
        maximumIOPressurePercent = number(value.maximum_io_pressure_percent)
        maximumMemoryPressurePercent = number(value.maximum_memory_pressure_percent)
        minimumBytesPerSecond = nonzero(value.minimum_bytes_per_second)
        quietHours = text(value.quiet_hours)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_constraints {
        var value = bh_constraints()
        value.preset = preset?.rawValue ?? 0
        value.requires_external_power = choice(requiresExternalPower)
        value.requires_unmetered = choice(requiresUnmetered)
        value.networks = try networks?.value() ?? 0
        value.minimum_battery_percent = try positive(minimumBatteryPercent, "minimumBatteryPercent")
        value.maximum_thermal_state = maximumThermalState?.rawValue ?? 0
        value.maximum_cpu_pressure_percent = try positive(maximumCPUPressurePercent, "maximumCPUPressurePercent")
        value.maximum_io_pressure_percent = try positive(maximumIOPressurePercent, "maximumIOPressurePercent")
        value.maximum_memory_pressure_percent = try positive(
            maximumMemoryPressurePercent, "maximumMemoryPressurePercent")
        value.minimum_bytes_per_second = minimumBytesPerSecond ?? 0
        value.quiet_hours = try arena.optionalString(quietHours, "quietHours")
        return value
    }
}

/// The certificates that a session trusts, and the session's own certificate. Nil stands for the default.
public struct TLS: Hashable, Sendable {
    /// Absolute path of a PEM file with the trusted certificates, in place of the system's certificates.
    public var caFile: String?
    /// Absolute path of a PEM file with a certificate and its chain.
    public var clientCertificate: String?
    /// Absolute path of a PEM file; default: the key is in the file `clientCertificate`.
    public var clientKey: String?
    /// "sha256//BASE64;sha256//…": keys of the server (RFC 7469).
    public var pinnedPublicKeys: String?
    /// The oldest version of TLS that is accepted. Default: `TLSVersion.tls1_2`.
    public var minimumVersion: TLSVersion?

    /// Makes a value in which all properties stand for the default.
    public init() {}

    // Unsafe: the pointers are valid, because their batch is released only after its items are copied.
    init(_ value: bh_tls_settings) {
        caFile = text(value.ca_file)
        clientCertificate = text(value.client_certificate)
        clientKey = text(value.client_key)
        pinnedPublicKeys = text(value.pinned_public_keys)
        minimumVersion = TLSVersion(rawValue: value.minimum_version)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_tls_settings {
        var value = bh_tls_settings()
        value.ca_file = try arena.optionalString(caFile, "caFile")
        value.client_certificate = try arena.optionalString(clientCertificate, "clientCertificate")
        value.client_key = try arena.optionalString(clientKey, "clientKey")
        value.pinned_public_keys = try arena.optionalString(pinnedPublicKeys, "pinnedPublicKeys")
        value.minimum_version = minimumVersion?.rawValue ?? 0
        return value
    }
}

/// Settings of a session, stored with it. Nil stands for the default.
public struct SessionConfiguration: Hashable, Sendable {
    /// 1 to 255 bytes of UTF-8 without control characters.
    public var identifier: String
    /// When failed attempts are repeated.
    public var retry = RetryPolicy()
    /// Which responses are accepted.
    public var rules = TransferRules()
    /// What all tasks of the session demand of the system.
    public var constraints = Constraints()
    /// Trusted certificates and own certificates.
    public var tls = TLS()
    /// The proxy of the session.
    public var proxy = Proxy()
    /// Bytes that this session may move on each network.
    public var budget = Budget()
    /// Limit of the rate of all tasks of the session together, in both directions; default: no limit.
    public var bytesPerSecond: UInt64?
    /// Headers that are sent with each request, but only to the origin of the request's URL. If the request has a
    /// header of the same name, the request's header is sent instead (Apple: httpAdditionalHeaders).
    public var headers: [Header] = []
    /// Default 6; at most 256. Tasks over HTTP/2 share one connection.
    public var connectionsPerOrigin: Int?
    /// Default 64; at most 1,024.
    public var maximumRunningTasks: Int?
    /// Default 1,000: how many ended tasks `Session.history` can list; at most 100,000. With `HistoryLimit.noTasks`,
    /// the history is empty, and the records of a task's attempts are kept only until the host acknowledges the task's
    /// event.
    public var historyLimit: HistoryLimit?
    /// Where a session's cookies are kept (RFC 6265). Default: `CookiePolicy.never`.
    public var cookies: CookiePolicy?
    /// Faults of servers that a session tolerates.
    public var tolerances: Tolerances = []
    /// `true`, the default: when this session needs a host, the engine launches the host (Apple:
    /// sessionSendsLaunchEvents).
    public var sendsLaunchEvents: Bool?
    /// `true`: the statuses 401 and 407 open a challenge, even if they are accepted, and the tasks wait until the host
    /// responds to the challenge. `false`, the default: these statuses are failures, like all statuses that are not
    /// accepted.
    public var asksForCredentials: Bool?
    /// `true`: tasks that a launched host enqueues get `Preset.discretionary`. Apple does the same with tasks of an app
    /// in the background. Default `false`.
    public var isDiscretionaryIfLaunched: Bool?
    /// If the consumer's process has been stopped for this long (by SIGSTOP, a debugger or the cgroup freezer), and the
    /// session needs its host, the engine launches another host. Nil: never. The library does not make a stopped
    /// process run again. At most 86,400,000 (a day).
    public var launchIfStopped: Duration?
    /// Default 60,000 ms: how long the throughput must be below `constraints.minimumBytesPerSecond` before tasks are
    /// held; 1,000 to 86,400,000 (a day).
    public var slowAfter: Duration?
    /// Default 300,000 ms: pause before the first slow probe of an origin. The pause doubles after each failed slow
    /// probe, until it is twelve times this value. 1,000 to 86,400,000 (a day).
    public var slowPause: Duration?

    /// Makes a configuration in which all other properties stand for the default.
    public init(identifier: String) { self.identifier = identifier }

    // Unsafe: the pointers are valid, because their batch is released only after its items are copied.
    init(_ value: bh_session_configuration) {
        identifier = text(value.identifier) ?? ""
        retry = RetryPolicy(value.retry)
        rules = TransferRules(value.rules)
        constraints = Constraints(value.constraints)
        tls = TLS(value.tls)
        proxy = Proxy(value.proxy)
        budget = Budget(value.budget)
        bytesPerSecond = nonzero(value.bytes_per_second)
        headers = Backhaul.headers(value.headers, value.header_count)
        connectionsPerOrigin = number(value.connections_per_origin)
        maximumRunningTasks = number(value.maximum_running_tasks)
        historyLimit = HistoryLimit.of(value.history_limit)
        cookies = CookiePolicy(rawValue: value.cookies)
        tolerances = Tolerances(rawValue: value.tolerances)
        sendsLaunchEvents = choice(value.sends_launch_events)
        asksForCredentials = choice(value.asks_for_credentials)
        isDiscretionaryIfLaunched = choice(value.discretionary_if_launched)
        launchIfStopped = duration(value.launch_if_stopped_ms)
        slowAfter = duration(value.slow_after_ms)
        slowPause = duration(value.slow_pause_ms)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_session_configuration {
        var value = bh_session_configuration()
        value.struct_size = MemoryLayout<bh_session_configuration>.size
        value.identifier = try arena.string(identifier, "the session's identifier")
        value.retry = try retry.value(arena)
        value.rules = try rules.value(arena)
        value.constraints = try constraints.value(arena)
        value.tls = try tls.value(arena)
        value.proxy = try proxy.value(arena)
        value.budget = budget.value
        value.bytes_per_second = bytesPerSecond ?? 0
        value.headers = try arena.headers(headers)
        value.connections_per_origin = try positive(connectionsPerOrigin, "connectionsPerOrigin")
        value.maximum_running_tasks = try positive(maximumRunningTasks, "maximumRunningTasks")
        value.history_limit = try historyLimit?.value() ?? 0
        value.cookies = cookies?.rawValue ?? 0
        value.tolerances = tolerances.rawValue
        value.sends_launch_events = choice(sendsLaunchEvents)
        value.asks_for_credentials = choice(asksForCredentials)
        value.discretionary_if_launched = choice(isDiscretionaryIfLaunched)
        value.launch_if_stopped_ms = try positive(launchIfStopped, "launchIfStopped")
        value.slow_after_ms = try positive(slowAfter, "slowAfter")
        value.slow_pause_ms = try positive(slowPause, "slowPause")
        value.header_count = headers.count
        return value
    }
}
