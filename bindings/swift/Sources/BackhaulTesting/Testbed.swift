public import Backhaul
internal import CBackhaul
internal import CBackhaulTesting

/// All that a host meets in a test: an empty store in a temporary directory, the daemon of this store, an HTTP server
/// (the *origin*) and the clock of the daemon. A *host* is a program that uses Backhaul.
///
/// The test moves the clock, decides how the origin answers, and starts and kills the host and the daemon. The
/// release of the last reference to the testbed, its resources and its hosts kills all processes and removes the store.
public final class Testbed: @unchecked Sendable {
    // Unchecked: any thread may use the pointer (backhaul_testing.h, "Threads").
    let pointer: OpaquePointer

    /// Makes a testbed. Its daemon starts when a host needs it.
    ///
    /// - Parameters:
    ///   - daemon: The path of backhauld. Nil means BACKHAUL_DAEMON in the environment, or else the installed daemon.
    ///   - directory: An existing directory, in which the testbed makes its own directory. Nil means the directory for
    ///     temporary files.
    public init(daemon: String? = nil, directory: String? = nil) throws {
        try check(daemon ?? "", "the path of the daemon")
        try check(directory ?? "", "the directory")
        var made: OpaquePointer?
        try withOptionalText(daemon) { daemon in
            try withOptionalText(directory) { directory in
                var options = bht_options()
                options.struct_size = MemoryLayout<bht_options>.size
                options.daemon = daemon
                options.directory = directory
                try check { bht_open(&options, &made, $0) }
            }
        }
        guard let made else { throw BackhaulError(.internal, message: "bht_open returned no testbed") }
        pointer = made
    }

    deinit { bht_close(pointer) }

    /// The testbed's directory. A test may make files in it.
    public var directory: String { String(cString: bht_directory(pointer)) }

    /// The path of the store.
    public var store: String { String(cString: bht_store(pointer)) }

    /// The variables, by name, that lead a host to the testbed, such as BACKHAUL_STORE. `start` and `launched` set
    /// them.
    public var environment: [String: String] {
        var found: [String: String] = [:]
        var next = bht_environment(pointer)
        while let entry = next?.pointee.map({ String(cString: $0) }) {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            found[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
            next = next?.successor()
        }
        return found
    }

    // MARK: Origin

    /// The URL of the origin, without a slash at the end. Only the daemon reaches its address. Other programs reach the
    /// origin on the same port of 127.0.0.1.
    public var url: String { String(cString: bht_origin_url(pointer)) }

    /// Adds a resource to the origin. `path` begins with a slash.
    public func serve(_ path: String, _ content: [UInt8]) throws -> Resource {
        try check(path, "the path")
        var made: OpaquePointer?
        try check { bht_serve(pointer, path, content, content.count, &made, $0) }
        guard let made else { throw BackhaulError(.internal, message: "bht_serve returned no resource") }
        return Resource(self, made)
    }

    // MARK: Hosts

    /// Starts a host in a process of its own.
    ///
    /// - Parameters:
    ///   - program: The path of the program. Nil means the program of this process.
    ///   - arguments: The arguments after the program's name.
    public func start(_ program: String? = nil, _ arguments: [String] = []) throws -> Host {
        for word in [program ?? ""] + arguments { try check(word, "the program or an argument") }
        var made: OpaquePointer?
        try withTexts([program] + arguments) { words in
            try check { bht_start(pointer, words, arguments.count + 1, &made, $0) }
        }
        guard let made else { throw BackhaulError(.internal, message: "bht_start returned no host") }
        return Host(self, made)
    }

    /// Waits until the daemon launches a host, and starts the program of the launch command as the daemon would start
    /// it. The daemon launches a host when a session needs it and no host is connected. A launch that the daemon has
    /// ended, because its time to attach a session has passed, is not started.
    ///
    /// - Throws: `BackhaulError` with `.timeout`.
    public func launched(timeout: Duration = .seconds(10)) async throws -> Host {
        try await waiting { [self] in
            var made: OpaquePointer?
            try check { bht_launch(pointer, milliseconds(timeout), &made, $0) }
            guard let made else { throw BackhaulError(.internal, message: "bht_launch returned no host") }
            return Host(self, made)
        }
    }

    /// Opens an application in the process of the test. With `observes`, the test reads the state of its host's
    /// tasks, and does not count as a connected host.
    public func application(_ identifier: String, observes: Bool = false) async throws -> Application {
        try await waiting { [self] in try startDaemon() }
        return try await Application.open(
            identifier, store: store, daemon: environment["BACKHAUL_DAEMON"], observes: observes)
    }

    // MARK: Daemon

    /// Starts the daemon if none runs, as the machine does at boot with `backhaul service install`. A host also starts
    /// it.
    public func startDaemon() throws { try check { bht_start_daemon(pointer, $0) } }

    /// Kills the daemon with SIGKILL, and waits until it has ended. Returns whether one ran.
    @discardableResult
    public func killDaemon() -> Bool { bht_kill_daemon(pointer) }

    /// A point at which a daemon dies. At the point, the disk has what the comment states, and no later change. A host
    /// detects the death at its next call.
    public enum Point: Int32, CaseIterable, Sendable {
        /// Before a durable step: a call by which the daemon changes or syncs a file or a directory below the testbed's
        /// directory, such as its database.
        case step = 1
        /// The tasks of an enqueue are stored; the host has no reply.
        case enqueued
        /// All bytes of a download are on the disk; its file does not have its final name.
        case received
        /// The file has its final name; the task has not ended.
        case placed
        /// The task of a placed file has ended, and its event is stored; no host has the event.
        case ended
        /// An acknowledgement is stored; the host has no reply.
        case acknowledged
    }

    /// From now on, counts how often the daemons of the testbed come to the point. At the given count, from 1, the
    /// daemon is killed with SIGKILL. This replaces an earlier point at which no daemon has died. A connected host
    /// starts the next daemon at once. To let a daemon die in its start, call this method before the start.
    public func killDaemon(at point: Point, count: Int = 1) {
        precondition(count > 0, "the daemon cannot die at \(count); give 1 or more")
        bht_kill_daemon_at(pointer, point.rawValue, UInt32(clamping: count))
    }

    /// Whether a daemon has died at the point of the last `killDaemon(at:count:)`.
    public var daemonDied: Bool { bht_daemon_died(pointer) }

    /// Waits until a daemon has died at the point of the last `killDaemon(at:count:)`.
    ///
    /// - Throws: `BackhaulError` with `.timeout`.
    public func waitForDeath(timeout: Duration = .seconds(10)) async throws {
        try await waiting { [self] in
            try check { bht_wait_for_death(pointer, milliseconds(timeout), $0) }
        }
    }

    /// The power fails, and the machine boots. The daemon and the hosts are killed. All that the daemons have not
    /// synced is lost: writes to files, new names and removals of names, below the testbed's directory. The daemon runs
    /// again when the test starts it or a host; a host in the process of the test starts it itself.
    ///
    /// A real disk may keep a part of what was not synced; this disk keeps nothing. Changes by other processes,
    /// such as the test, a host or an engine in a host, stay. The process of the test is not killed.
    public func failPower() throws { try check { bht_fail_power(pointer, $0) } }

    // MARK: Conditions

    /// Sets whether there is external power, and the charge of the battery. At first, there is external power, and no
    /// battery.
    public func setPower(isExternal: Bool, batteryPercent: Int = 80) {
        precondition((0...100).contains(batteryPercent), "the battery has \(batteryPercent) percent; give 0 to 100")
        bht_set_power(pointer, isExternal, UInt8(batteryPercent))
    }

    /// Sets the temperature of the machine, as a state. At first, no temperature can be read.
    public func setHeat(_ state: ThermalState) { bht_set_heat(pointer, bh_thermal_state(state.rawValue)) }

    /// Sets the kind of the network. An empty set means that no route leads to the origin and to other
    /// machines. Cellular and Bluetooth networks count as metered. At first, there is an Ethernet network.
    public func setNetwork(_ kind: NetworkKinds) { bht_set_network(pointer, kind.rawValue) }

    // MARK: Clock

    /// Lets time pass at once. First waits until the daemon has done what it can do at the present time, such as the
    /// handling of a response. Then moves the clocks of the present daemon and of later daemons. Timers that are due
    /// run.
    public func pass(_ duration: Duration) { bht_pass(pointer, UInt64(clamping: duration.wholeMilliseconds)) }

    /// The time of the daemon, in Unix milliseconds.
    public var nowMilliseconds: Int64 { bht_now(pointer) }
}
