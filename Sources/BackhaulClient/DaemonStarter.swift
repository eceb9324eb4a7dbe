internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulUserManager

/// Starts the daemon of a store when no process has its lock, and checks that it starts to serve.
struct DaemonStarter {
    private let path: String?
    private var started: (program: String, process: DaemonProcess, complaint: DaemonComplaint)?
    private var pause = RestartPause()
    private var complaint: Failure?

    /// - path: the path of the daemon's program from the host's options; nil: it is searched.
    init(path: String?) { self.path = path }

    /// An engine has replied. Forgets earlier failures.
    mutating func succeeded() {
        started = nil
        complaint = nil
        // A long pause belongs to daemons that never replied.
        if pause.isLong { pause = RestartPause() }
    }

    /// The most requests to older daemons to end. The program that is started instead may be as old, or an older
    /// library may start its own daemon again.
    private static let mostAsked = 3
    private var asked = 0
    /// Whether an older daemon may be asked to end. Not if there is no program that can replace it.
    var mayAskToLeave: Bool { asked < Self.mostAsked && DaemonFinder(path: path).program != nil }
    mutating func askedToLeave() { asked += 1 }

    /// A daemon that replied has ended soon after. Waits a moment before the next start, in case it ends in the same
    /// way.
    mutating func endedEarly() {
        started = nil
        pause.failed(longestMilliseconds: 100)
    }

    mutating func endedLate() { self = DaemonStarter(path: path) }

    var isStarting: Bool { started != nil }

    /// The failure after the time for a start has passed.
    var failure: Failure? {
        guard let started else { return complaint }
        return Failure(
            .daemonUnavailable, "the daemon \(started.program) was started and does not reply yet; try again",
            domain: .process, detail: Int64(started.process.processID ?? 0))
    }

    /// Starts the daemon if it is needed. Returns when the caller has to wait for an engine. Throws daemonUnavailable
    /// if there is no program or it cannot be run, or the error that an ended daemon has logged.
    mutating func tend(_ directory: StoreDirectory) throws(Failure) {
        // A daemon that this or another process has started has the lock, or an engine that is ending.
        guard !directory.isLocked else { return }
        if let (program, process, complaint) = started {
            guard process.hasEnded else { return }
            started = nil
            pause.failed()
            // On a full disk the daemon cannot write its log. This process checks for that itself.
            let said = complaint.read(directory) ?? directory.writeFailure()
            let reason = said.map { ": \($0.message)" } ?? ", and its log has no error"
            let failure = Failure(
                said?.status ?? .daemonUnavailable, "the daemon \(program) ended at once\(reason)",
                domain: .process, detail: Int64(process.processID ?? 0))
            self.complaint = failure
            // A daemon without an error was killed, or another one had the lock. The next start may succeed.
            if said != nil { throw failure }
        }
        guard pause.isOver else {
            // The next start would probably fail with the same error.
            if let complaint, pause.isLong { throw complaint }
            return
        }
        let program = try DaemonFinder(path: path).find()
        do {
            let complaint = DaemonComplaint(directory)
            started = (program, try DaemonProcess.start(program, directory), complaint)
        } catch {
            pause.failed()
            let failure = Failure.system(
                .daemonUnavailable, code: error.code,
                "the daemon cannot be started: \(error.description); let this process start programs, start the daemon "
                    + "before it, or choose embedded hosting")
            complaint = failure
            throw failure
        }
    }
}

/// The growing pause between two starts of a program that ends right after its start.
struct RestartPause {
    private static let firstMilliseconds: Int64 = 20
    private static let longestMilliseconds: Int64 = 5_000
    private var milliseconds: Int64 = 0
    private var end: Deadline?

    var isOver: Bool { end?.hasPassed ?? true }
    /// Whether the pause is too long for a client to wait for its end.
    var isLong: Bool { milliseconds > 1_000 }

    mutating func failed(longestMilliseconds: Int64 = RestartPause.longestMilliseconds) {
        milliseconds = milliseconds == 0 ? Self.firstMilliseconds : min(milliseconds * 2, longestMilliseconds)
        end = .after(milliseconds: milliseconds)
    }
}

extension Hosting {
    var isDaemon: Bool { if case .daemon = self { true } else { false } }

    var daemonPath: String? { if case .daemon(let path) = self { path } else { nil } }
}
