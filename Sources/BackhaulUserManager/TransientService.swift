internal import BackhaulBus

/// A service that the user manager runs without a unit file (systemd.service(5), systemd.exec(5)).
public struct TransientService: Equatable, Sendable {
    /// The unit's name, such as `backhauld-0123456789abcdef.service`.
    public var name: String
    /// A description for listings, in one line.
    public var description: String
    /// The absolute path of the program.
    public var program: String
    /// The arguments after the program's name. `$` and `%` have no special meaning. However, a reload of systemd 252
    /// damages each `$` for later restarts, and no notation of the `$` prevents this.
    public var arguments: [String] = []
    /// Variables that the service gets in addition to the user manager's environment.
    public var environment: [String: String] = [:]
    /// The absolute path of the working directory; nil for the user's home.
    public var workingDirectory: String?
    /// When to restart the service; nil if it is never restarted.
    public var restart: Restart?
    /// Whether the service runs until its last process has ended (`ExitType=cgroup`, from systemd 250 on). This is
    /// needed for programs that start another program and exit. Older versions end the service with its first process.
    public var exitsWithControlGroup = false
    /// How long a process has between SIGTERM and SIGKILL, in milliseconds; nil for the user manager's default.
    public var stopTimeoutMilliseconds: UInt64?
    /// Whether the service has the restrictions of `DaemonSandbox`.
    public var isSandboxed = false

    /// When a failed service is restarted: after `delayMilliseconds`, and at most `attempts` times in
    /// `startLimitIntervalMilliseconds`. If it fails more often in that time, it is not restarted any more.
    public struct Restart: Equatable, Sendable {
        public var delayMilliseconds: UInt64
        public var attempts: UInt32
        public var startLimitIntervalMilliseconds: UInt64
        /// Exit codes after which the service is not restarted, because a restart would not help.
        public var restartPreventExitCodes: [Int32]

        public init(
            delayMilliseconds: UInt64, attempts: UInt32, startLimitIntervalMilliseconds: UInt64,
            restartPreventExitCodes: [Int32] = []
        ) {
            self.delayMilliseconds = delayMilliseconds
            self.attempts = attempts
            self.startLimitIntervalMilliseconds = startLimitIntervalMilliseconds
            self.restartPreventExitCodes = restartPreventExitCodes
        }
    }

    public init(name: String, description: String, program: String, arguments: [String] = []) {
        self.name = name
        self.description = description
        self.program = program
        self.arguments = arguments
    }

    /// The properties of StartTransientUnit (org.freedesktop.systemd1(5)) that this version of the manager supports.
    /// - version: systemd's version, such as 252; 0 if it is not known.
    func properties(version: Int) -> [(name: String, value: BusValue)] {
        var properties: [(name: String, value: BusValue)] = [
            ("Description", .string(description)),
            ("ExecStart", .array("(sasb)", [execution])),
        ]
        // With this type, the start fails if the program cannot be run.
        if version >= 240 { properties.append(("Type", .string("exec"))) }
        if version >= 236 {
            // The manager removes a failed unit, so that the unit's name is free for the next start. The reference
            // (AddRef) delays the removal until this library has read why the unit failed.
            properties.append(("CollectMode", .string("inactive-or-failed")))
            properties.append(("AddRef", .bool(true)))
        }
        if exitsWithControlGroup, version >= 250 { properties.append(("ExitType", .string("cgroup"))) }
        if !environment.isEmpty {
            let assignments = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            properties.append(("Environment", .strings(assignments)))
        }
        if let workingDirectory { properties.append(("WorkingDirectory", .string(workingDirectory))) }
        if let restart { properties += restart.properties }
        if let stopTimeoutMilliseconds {
            properties.append(("TimeoutStopUSec", .uint64(microseconds(stopTimeoutMilliseconds))))
        }
        if isSandboxed { properties += DaemonSandbox.properties(version: version) }
        return properties
    }

    private var execution: BusValue {
        // The manager replaces variables in arguments (systemd.service(5), "Command lines"). "$$" stands for one "$".
        let words =
            [program]
            + arguments.map { $0.split(separator: "$", omittingEmptySubsequences: false) }
            .map { $0.joined(separator: "$$") }
        return .structure([.string(program), .strings(words), .bool(false)])
    }
}

extension TransientService.Restart {
    fileprivate var properties: [(name: String, value: BusValue)] {
        var properties: [(name: String, value: BusValue)] = [
            ("Restart", .string("on-failure")),
            ("RestartUSec", .uint64(microseconds(delayMilliseconds))),
            ("StartLimitIntervalUSec", .uint64(microseconds(startLimitIntervalMilliseconds))),
            ("StartLimitBurst", .uint32(attempts)),
        ]
        if !restartPreventExitCodes.isEmpty {
            let codes = BusValue.array("i", restartPreventExitCodes.map { .int32($0) })
            properties.append(("RestartPreventExitStatus", .structure([codes, .array("i", [])])))
        }
        return properties
    }
}

private func microseconds(_ milliseconds: UInt64) -> UInt64 {
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000)
    return overflow ? UInt64.max : product
}
