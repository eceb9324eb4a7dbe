import Backhaul

extension Setting {
    /// All settings, in the order of the C header. Options that come later change the result of earlier ones.
    static let all: [Setting] =
        [Setting("identifier", [], json: { .string($0.identifier) })] + retry + rules + constraints + tls + proxy
        + others

    private static let retry: [Setting] = [
        Setting(
            "retry.maximum_attempts", \.retry.maximumAttempts,
            [
                OptionDescription("retry", nil, "NUMBER", "give up after this number of retries without progress"),
                OptionDescription(
                    "attempts", nil, "NUMBER",
                    "give up after this number of attempts without progress; --attempts 1 is --retry 0; 0: no limit"),
            ], parse: attempts, json: { .number($0) }
        ).called("the number of attempts (--retry, --attempts)"),
        .seconds(
            "retry.first_delay_ms", \.retry.firstDelay, "retry-delay", "the delay before the first retry; it doubles"),
        .seconds("retry.longest_delay_ms", \.retry.longestDelay, "retry-max-delay", "the longest such delay"),
        .number(
            "retry.jitter_percent", \.retry.jitterPercent, "retry-jitter", argument: "PERCENT", zero: .isRefused,
            "how much of each delay is random"),
        .set(
            "retry.errors", \.retry.errors, "retry-errors",
            "the errors that are retried: name, connection, lost, timeout, tls, status, bad_response; or none"),
        .flag(
            "retry.unsafe_methods", \.retry.unsafeMethods, "retry-unsafe",
            "retry POST and PATCH even if the server may have processed them"),
        .text("retry.statuses", \.retry.statuses, "retry-status", "LIST", "the statuses that are retried"),
    ]

    private static let rules: [Setting] = [
        .seconds(
            "rules.request_timeout_ms", \.rules.requestTimeout, "request-timeout", "the longest time without a byte"),
        .flags(
            "rules.http_version", \.rules.httpVersion, unset: .string("default"),
            [
                "use HTTP/1.1", "use HTTP/2 over TLS, and HTTP/1.1 without TLS",
                "use HTTP/2 without negotiation, even without TLS",
            ]
        ).called("the HTTP version"),
        .seconds(
            "rules.resource_timeout_ms", \.rules.resourceTimeout, "max-time", letter: "m",
            "the longest time for the whole transfer, from now on"),
        .word("rules.redirects", \.rules.redirects, "redirects", "which redirects are followed"),
        redirectCount,
        .text(
            "rules.accepted_statuses", \.rules.acceptedStatuses, "accept-status", "LIST",
            "the statuses that mean success"),
        Setting(
            "rules.accepted_types", \.rules.acceptedTypes,
            [
                OptionDescription(
                    "accept-type", nil, "TYPE", "fail for other media types, such as image/*; more than one is allowed")
            ],
            parse: { arguments in
                let given = arguments.all("accept-type")
                return given.isEmpty ? nil : .some(given.joined(separator: ","))
            }, json: { .string($0) }),
        .bytes(
            "rules.maximum_size", \.rules.maximumSize, "max-filesize",
            "fail for larger files, such as 500k, 10M or 2G"),
        .flag(
            "rules.refuses_private_addresses", \.rules.refusesPrivateAddresses, "refuse-private-addresses",
            "make no connection to this machine or to a local network, also after redirects"),
        .word(
            "rules.resumable_uploads", \.rules.resumableUploads, "resumable",
            "how an upload continues after an interruption"),
        .text(
            "rules.s3_endpoint", \.rules.s3Endpoint, "s3-endpoint", "URL",
            "the server for s3://BUCKET/KEY, such as https://minio.example:9000"),
        .text("rules.s3_region", \.rules.s3Region, "s3-region", "REGION", "the region of the bucket"),
        .text("rules.s3_profile", \.rules.s3Profile, "s3-profile", "NAME", "the profile in the files of AWS"),
        .text(
            "rules.s3_credential_command", \.rules.s3CredentialCommand, "s3-credential-command", "COMMAND",
            "a command for /bin/sh that prints credentials as JSON, like credential_process of AWS"),
        .yesOrNo(
            "rules.s3_path_style", \.rules.s3PathStyle, "s3-path-style",
            "whether the bucket is in the path of the URL"),
    ]

    private static let constraints: [Setting] = [
        Setting(
            "constraints.preset", \.constraints.preset,
            [
                OptionDescription(
                    "discretionary", nil, nil,
                    "wait for external power, an unmetered network, a machine that is not hot, and 10 kB a second"),
                OptionDescription("overnight", nil, nil, "wait for the same, and for the time from 23:00 to 07:00"),
                OptionDescription("preset", nil, "discretionary|overnight|none", "the same in one option"),
            ], parse: preset, json: { .word($0) }
        ).called("--preset"),
        .yesOrNo(
            "constraints.requires_external_power", \.constraints.requiresExternalPower, "external-power",
            "wait while the machine runs on battery"),
        .yesOrNo(
            "constraints.requires_unmetered", \.constraints.requiresUnmetered, "unmetered",
            "wait while the network is metered"),
        .set(
            "constraints.networks", \.constraints.networks, "networks", everything: "all",
            "wait for one of these: ethernet,wifi,cellular,bluetooth,tunnel,other; or all"),
        .number(
            "constraints.minimum_battery_percent", \.constraints.minimumBatteryPercent, "minimum-battery",
            argument: "PERCENT",
            "on battery, wait while it has less; 0: no minimum"),
        .word(
            "constraints.maximum_thermal_state", \.constraints.maximumThermalState, "maximum-heat",
            "wait while the machine is hotter (serious)"),
        .number(
            "constraints.maximum_cpu_pressure_percent", \.constraints.maximumCPUPressurePercent, "maximum-cpu-pressure",
            argument: "PERCENT", "wait while processes wait more for a processor; 0: no limit"),
        .number(
            "constraints.maximum_io_pressure_percent", \.constraints.maximumIOPressurePercent, "maximum-io-pressure",
            argument: "PERCENT", "the same, for a disk"),
        .number(
            "constraints.maximum_memory_pressure_percent", \.constraints.maximumMemoryPressurePercent,
            "maximum-memory-pressure", argument: "PERCENT", "the same, for memory"),
        .bytes(
            "constraints.minimum_bytes_per_second", \.constraints.minimumBytesPerSecond, "minimum-rate",
            "per second: pause slower transfers, and test the rate from time to time"),
        .text(
            "constraints.quiet_hours", \.constraints.quietHours, "quiet-hours", "HOURS",
            "wait in these hours: 22:00-06:30, or 'mon-fri 08:00-18:00, sat 10:00-14:00'"),
    ]

    private static let tls: [Setting] = [
        Setting(
            "tls.ca_file", \.tls.caFile,
            [
                OptionDescription("cacert", nil, "FILE", "trust these certificates (PEM) instead of the system's"),
                OptionDescription("ca-file", nil, "FILE", "the same"),
            ],
            parse: { (arguments) throws(CommandError) in
                guard let file = arguments.value("ca-file") ?? arguments.value("cacert") else { return nil }
                if file.isEmpty { return .some(nil) }
                return try Paths.absolute(file)
            }, json: { .string($0) }
        ).called("--cacert"),
        Setting.file("tls.client_certificate", \.ownCertificate, "cert", letter: "E", "the client's certificate (PEM)"),
        .file("tls.client_key", \.tls.clientKey, "key", "its key (PEM), unless that is in the same file"),
        .text(
            "tls.pinned_public_keys", \.tls.pinnedPublicKeys, "pinnedpubkey", "HASHES",
            "the server's key is one of sha256//BASE64;..."),
        .flags(
            "tls.minimum_version", \.tls.minimumVersion, lastCounts: true,
            ["TLS 1.2 or newer (the default)", "TLS 1.3 or newer"]),
    ]

    private static let proxy: [Setting] = [
        Setting(
            "proxy.url", \.otherProxy,
            [
                OptionDescription(
                    "proxy", "x", "URL",
                    "http://, https://, socks5:// or socks5h://...; none (as the environment says)")
            ], parse: proxyURL, json: { .string($0) }),
        Setting(
            "proxy.user",
            [
                OptionDescription(
                    "proxy-user", "U", "USER[:PASSWORD]",
                    "for the proxy. Other users may see a command line: see --proxy-password-file")
            ], json: { .optional($0.proxy.user) }, change: proxyUser),
        Setting(
            "proxy.password",
            [
                OptionDescription(
                    "proxy-password-file", nil, "FILE",
                    "the password is the first line of FILE; '-' is standard input")
            ], json: nil, change: proxyPassword
        ).called("the password of --proxy-user"),
        .text("proxy.bypass", \.proxy.bypass, "noproxy", "LIST", "names and addresses that need no proxy"),
    ]

    private static let others: [Setting] = [
        Setting.budget(
            "budget.daily", \.budget.daily, "daily-budget",
            "limit for the session in a day, on each network (none)"
        ).onlyOfSession,
        Setting.budget(
            "budget.monthly", \.budget.monthly, "monthly-budget", "the same, in a calendar month (none)"
        ).onlyOfSession,
        .bytes(
            "bytes_per_second", \.bytesPerSecond, "limit-rate", "per second, sent and received, such as 500k, 10M or 2G"
        ),
        Setting("header_names", [], json: { .strings($0.headers.map(\.name)) }),
        .number(
            "connections_per_origin", \.connectionsPerOrigin, "connections", "connections to one origin at a time"),
        .number("maximum_running_tasks", \.maximumRunningTasks, "parallel-max", "transfers at a time"),
        Setting.number(
            "history_limit", \.historyCount, "history-limit", zero: .isValue,
            "ended transfers that `history` keeps; 0: none"
        ).onlyOfSession,
        .word("cookies", \.cookies, "cookie-jar", "where the session's cookies live"),
        .set(
            "tolerances", \.statedTolerances, "tolerate",
            "accept these faults of servers: missing_close_notify, early_response"),
        Setting("sends_launch_events", [], json: { .choice($0.sendsLaunchEvents) }),
        Setting(
            "asks_for_credentials", \.asksAtTerminal,
            [
                OptionDescription(
                    "credentials", nil, "ask|fail", "when a server asks for a credential: wait for one (ask), or fail")
            ],
            parse: { (arguments) throws(CommandError) in
                try arguments.choice("credentials", [("ask", true), ("fail", false)])
            }, json: { .bool($0) }),
        Setting.yesOrNo(
            "discretionary_if_launched", \.isDiscretionaryIfLaunched, "discretionary-if-launched",
            "transfers that a launched program enqueues are --discretionary"
        ).onlyOfSession,
        Setting("launch_if_stopped_ms", [], json: { .milliseconds($0.launchIfStopped) }),
        .seconds(
            "slow_after_ms", \.slowAfter, "slow-after", "how long a rate below --minimum-rate lasts before a pause"),
        .seconds("slow_pause_ms", \.slowPause, "slow-pause", "the first such pause; it doubles, up to 12 times this"),
    ]
}
