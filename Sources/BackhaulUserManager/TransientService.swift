internal import BackhaulBus

/// A service that the user manager is asked to run without a unit file (systemd.service(5), systemd.exec(5)).
public struct TransientService: Equatable, Sendable {
    /// The unit's name, such as `backhauld-0123456789abcdef.service`.
    public var name: String
    /// One line for listings.
    public var description: String
    /// An absolute path.
    public var program: String
    /// Those after the program's own name, as they are: neither `$` nor `%` means anything. (When the manager is
    /// reloaded, systemd 252 spoils a `$` for later restarts, however it is written.)
    public var arguments: [String] = []
    /// Added to the user manager's environment.
    public var environment: [String: String] = [:]
    /// An absolute path; the user's home without it.
    public var workingDirectory: String?
    /// Nil: it is run once, however it ends.
    public var restart: Restart?
    /// Whether the service lives as long as any process of it, for programs that start another and leave
    /// (`ExitType=cgroup`, from systemd 250 on; before that it ends with its first process).
    public var livesAsLongAsAnyProcess = false
    public var stopping: Stopping = .allProcesses
    /// How long a process has after SIGTERM before SIGKILL; the user manager's default without it.
    public var stopMilliseconds: UInt64?
    /// Where the manager counts its resources, such as `background.slice`; `app.slice` without it.
    public var slice: String?

    /// When a service that failed is started again: after `delayMilliseconds`, and at most `attempts` times in
    /// `withinMilliseconds`; then it is left alone.
    public struct Restart: Equatable, Sendable {
        public var delayMilliseconds: UInt64
        public var attempts: UInt32
        public var withinMilliseconds: UInt64
        /// Exit codes after which trying again is of no use.
        public var exitCodesWithout: [Int32]

        public init(
            delayMilliseconds: UInt64, attempts: UInt32, withinMilliseconds: UInt64, exitCodesWithout: [Int32] = []
        ) {
            self.delayMilliseconds = delayMilliseconds
            self.attempts = attempts
            self.withinMilliseconds = withinMilliseconds
            self.exitCodesWithout = exitCodesWithout
        }
    }

    /// Whom a stop reaches (`KillMode`, systemd.kill(5)).
    public enum Stopping: String, Sendable {
        case allProcesses = "control-group"
        /// The first process only; what it started goes on.
        case firstProcess = "process"
        /// SIGTERM for the first process, SIGKILL for what it left.
        case firstThenAll = "mixed"
    }

    public init(name: String, description: String, program: String, arguments: [String] = []) {
        self.name = name
        self.description = description
        self.program = program
        self.arguments = arguments
    }

    /// The properties of StartTransientUnit (org.freedesktop.systemd1(5)) that a manager of this version knows.
    /// - Parameter version: systemd's, such as 252; 0 when it is not known.
    func properties(version: Int) -> [(name: String, value: BusValue)] {
        var properties: [(name: String, value: BusValue)] = [
            ("Description", .string(description)),
            ("ExecStart", .array("(sasb)", [execution])),
            ("KillMode", .string(stopping.rawValue)),
        ]
        // The start then succeeds when the program runs, and fails when there is none.
        if version >= 240 { properties.append(("Type", .string("exec"))) }
        if version >= 236 {
            // A failed unit is forgotten, so that its name is free for the next start, but not before whoever started
            // it has asked why.
            properties.append(("CollectMode", .string("inactive-or-failed")))
            properties.append(("AddRef", .bool(true)))
        }
        if livesAsLongAsAnyProcess, version >= 250 { properties.append(("ExitType", .string("cgroup"))) }
        if !environment.isEmpty {
            let assignments = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            properties.append(("Environment", .strings(assignments)))
        }
        if let workingDirectory { properties.append(("WorkingDirectory", .string(workingDirectory))) }
        if let restart { properties += restart.properties }
        if let stopMilliseconds { properties.append(("TimeoutStopUSec", .uint64(microseconds(stopMilliseconds)))) }
        if let slice { properties.append(("Slice", .string(slice))) }
        return properties
    }

    private var execution: BusValue {
        // The manager replaces variables in arguments (systemd.service(5), "Command lines"); a doubled sign is one.
        let words = [program] + arguments.map { $0.split(separator: "$", omittingEmptySubsequences: false) }
            .map { $0.joined(separator: "$$") }
        return .structure([.string(program), .strings(words), .bool(false)])
    }
}

extension TransientService.Restart {
    fileprivate var properties: [(name: String, value: BusValue)] {
        var properties: [(name: String, value: BusValue)] = [
            ("Restart", .string("on-failure")),
            ("RestartUSec", .uint64(microseconds(delayMilliseconds))),
            ("StartLimitIntervalUSec", .uint64(microseconds(withinMilliseconds))),
            ("StartLimitBurst", .uint32(attempts)),
        ]
        if !exitCodesWithout.isEmpty {
            let codes = BusValue.array("i", exitCodesWithout.map { .int32($0) })
            properties.append(("RestartPreventExitStatus", .structure([codes, .array("i", [])])))
        }
        return properties
    }
}

private func microseconds(_ milliseconds: UInt64) -> UInt64 {
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000)
    return overflow ? UInt64.max : product
}
