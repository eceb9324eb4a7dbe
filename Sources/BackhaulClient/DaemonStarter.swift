internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulUserManager

/// Starts the daemon of a store when nobody holds its lock, and watches that it comes up.
struct DaemonStarter {
    private let path: String?
    private var started: (program: String, process: DaemonProcess, complaint: DaemonComplaint)?
    private var pause = RestartPause()
    private var complaint: Failure?

    /// - path: the host's option.
    init(path: String?) { self.path = path }

    /// An engine answered: whatever ended before is forgotten.
    mutating func succeeded() {
        started = nil
        complaint = nil
        // A long pause was for one that never answered.
        if pause.isLong { pause = RestartPause() }
    }

    /// What is started in its place may be as old, or an older library starts its own again: it is not asked for ever.
    private static let mostAsked = 3
    private var asked = 0
    /// Nor is one that works when there is no program to take its place.
    var mayAskToLeave: Bool { asked < Self.mostAsked && DaemonFinder(path: path).program != nil }
    mutating func askedToLeave() { asked += 1 }

    /// One that answered has ended soon after: the next one is given a moment, in case it ends the same way.
    mutating func endedEarly() {
        started = nil
        pause.failed(longestMilliseconds: 100)
    }

    mutating func endedLate() { self = DaemonStarter(path: path) }

    var isStarting: Bool { started != nil }

    /// Why there is none, at the end of the patience for one that starts.
    var failure: Failure? {
        guard let started else { return complaint }
        return Failure(
            .daemonUnavailable, "the daemon \(started.program) was started and serves nobody yet; try again",
            domain: .process, detail: Int64(started.process.processID ?? 0))
    }

    /// Looks after it. Returns when there is something to wait for. Throws daemonUnavailable: no program, or one that
    /// cannot be run; and what one that ended at once complained of.
    mutating func tend(_ directory: StoreDirectory) throws(Failure) {
        // A daemon that was started here or elsewhere, or an engine that is ending.
        guard !directory.isLocked else { return }
        if let (program, process, complaint) = started {
            guard process.hasEnded else { return }
            started = nil
            pause.failed()
            // On a full disk the daemon cannot write down why, but that can be seen from here.
            let said = complaint.read(directory) ?? directory.writeFailure()
            let reason = said.map { ": \($0.message)" } ?? ", and its log says nothing"
            let failure = Failure(
                said?.status ?? .daemonUnavailable, "the daemon \(program) ended at once\(reason)",
                domain: .process, detail: Int64(process.processID ?? 0))
            self.complaint = failure
            // One without a word was killed, or has found another one: the next may live.
            if said != nil { throw failure }
        }
        guard pause.isOver else {
            // It was said, and it would only be said again.
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

/// The growing pause between two starts of something that ends at once.
struct RestartPause {
    private static let firstMilliseconds: Int64 = 20
    private static let longestMilliseconds: Int64 = 5_000
    private var milliseconds: Int64 = 0
    private var end: Deadline?

    var isOver: Bool { end?.hasPassed ?? true }
    /// Too long for anyone to wait for its end.
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
