import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import BackhaulTransport
import Glibc

/// Repairs the database of a store, and prints the findings: a level and a sentence in each line.
struct Repair {
    let options: Options

    /// Returns the exit code, as `backhaul doctor --repair` has it: 0 if nothing is lost, 1 if something is or may be
    /// lost, 5 if an engine uses the store, and 6 if the repair fails.
    func run() -> Int32 {
        umask(0o077)
        CoreDumps.disable()
        ProcessSQLite.prepare()
        // A repair may be interrupted at any time. But a write beyond the limit on the size of files must fail with an
        // error, so the signal that would end the process stays blocked.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGXFSZ)
        sigprocmask(SIG_SETMASK, &blocked, nil)
        var isComplete = true
        do throws(Failure) {
            let directory = try options.openStore()
            guard let lock = try directory.acquireLock() else {
                let engine = directory.lockHolder().map { " (process \($0.processID))" } ?? ""
                throw Failure(.inUse, "an engine\(engine) uses the store \(directory.path); end it first")
            }
            let repair = StoreRepair(
                directory, lock,
                origin: { (try? URLParser.origin(of: $0)) ?? (try? URLParser.origin(of: $0, S3Settings())) },
                report: { finding in
                    if finding.level != .ok { isComplete = false }
                    Program.writeText("\(finding.level.rawValue): \(finding.text)\n", to: STDOUT_FILENO)
                })
            try repair.run()
            return isComplete ? 0 : 1
        } catch {
            Program.writeText("backhauld: \(error.message)\n", to: STDERR_FILENO)
            return error.status == .inUse ? 5 : 6
        }
    }
}
