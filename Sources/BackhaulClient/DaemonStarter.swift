internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulUserManager
internal import Glibc

/// Starts the daemon of a store if no process has the store's lock, and checks that the daemon starts to serve. A
/// *store* is a directory with all durable data. Its *engine* runs the tasks.
struct DaemonStarter {
    private let path: String?
    private var started: (program: String, process: DaemonProcess, logError: DaemonLogError)?
    private var pause = RestartPause()
    private var logError: Failure?
    /// False after a service ended without an error in the log. A detached daemon keeps the error of the loader.
    private var mayBeService = true

    /// - path: the path of the daemon's program, from the options of the host. If the path is nil, the starter searches
    ///   for the program.
    init(path: String?) { self.path = path }

    /// Forgets earlier failures, because an engine has replied.
    mutating func succeeded() {
        started = nil
        logError = nil
        mayBeService = true
        // Only daemons that never reply cause a long pause. An engine has replied, so this pause is over.
        if pause.isLong { pause = RestartPause() }
    }

    /// The largest number of requests to exit. The client sends such a request to a daemon that is older than this
    /// library. More requests may be useless: the program of the next daemon may have the same old version, or a
    /// process with an older library may start its daemon again.
    private static let exitRequestLimit = 3
    private var exitRequests = 0
    /// Whether an older daemon may be requested to exit. False if no program can replace the daemon.
    var mayRequestExit: Bool { exitRequests < Self.exitRequestLimit && DaemonFinder(path: path).program != nil }
    mutating func exitRequested() { exitRequests += 1 }

    /// Notes that a daemon has ended soon after it replied. The next start is delayed a little, because the next daemon
    /// may end in the same way.
    mutating func endedEarly() {
        started = nil
        pause.failed(longestMilliseconds: 100)
    }

    mutating func endedLate() { self = DaemonStarter(path: path) }

    var isStarting: Bool { started != nil }

    /// The failure to report if no engine has replied within the time for a start.
    var failure: Failure? {
        guard let started else { return logError }
        return Failure(
            .daemonUnavailable, "the daemon \(started.program) was started and does not reply yet; try again",
            domain: .process, detail: Int64(started.process.processID ?? 0))
    }

    /// Throws `daemonUnavailable` if the store does not exist and there is no program of a daemon. So a call that fails
    /// for this reason leaves no new directory.
    func checkProgram(forStore store: String) throws(Failure) {
        if access(store, F_OK) != 0 { _ = try DaemonFinder(path: path).find() }
    }

    /// Starts the daemon if it is needed. Does not wait until the daemon serves the store. Throws `daemonUnavailable`
    /// if there is no program, or if the program cannot be run. If the started daemon has ended, throws the error that
    /// it has logged.
    mutating func supervise(_ directory: StoreDirectory) throws(Failure) {
        // If the store is locked, no daemon is needed now: a daemon has started, or another engine is still ending.
        guard !directory.isLocked else { return }
        if let (program, process, logError) = started {
            guard process.hasEnded else { return }
            started = nil
            pause.failed()
            // On a full disk the daemon cannot write its log. So this process checks whether it can write to the store.
            let cause =
                logError.read(directory) ?? directory.writeFailure()
                ?? DaemonStartError.failure(stderr: process.errorText, program: program)
            // A unit that already existed may be of an earlier daemon, which was ending.
            let isOther = process.service.map { $0.alreadyExisted && self.logError == nil } ?? true
            mayBeService = cause != nil || isOther
            let reason = cause.map { ": \($0.message)" } ?? ", and its log has no error"
            let failure = Failure(
                cause?.status ?? .daemonUnavailable, "the daemon \(program) ended at once\(reason)",
                domain: .process, detail: Int64(process.processID ?? 0))
            self.logError = failure
            // If the daemon logged no error, it was killed, or another daemon had the lock. The next start may succeed.
            if cause != nil { throw failure }
        }
        guard pause.isOver else {
            // The next start would probably fail with the same error.
            if let logError, pause.isLong { throw logError }
            return
        }
        let program = try DaemonFinder(path: path).find()
        do {
            let logError = DaemonLogError(directory)
            started = (program, try DaemonProcess.start(program, directory, mayBeService: mayBeService), logError)
        } catch {
            pause.failed()
            let failure = Failure.system(
                error.isExhaustion ? .outOfResources : .daemonUnavailable, code: error.code,
                "the daemon cannot be started: \(error.description); \(Self.advice(error)), or choose "
                    + "BH_HOSTING_EMBEDDED")
            logError = failure
            throw failure
        }
    }
}

extension DaemonStarter {
    private static func advice(_ error: SystemError) -> String {
        switch error.code {
        case _ where error.isExhaustion: error.advice
        // The finder has seen the program, so its loader is missing.
        case ENOENT: "the loader that the program names is not installed: install a daemon for this system"
        case ENOEXEC: "the file is no program for this machine: install a daemon for this system"
        default: "let this process start programs, start the daemon before it"
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
