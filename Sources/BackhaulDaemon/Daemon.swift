import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import BackhaulUserManager
import Glibc

/// A daemon: runs the engine of a store in its own process. The engine runs transfers, and the store is the directory
/// with all data of the engine.
struct Daemon {
    let options: Options
    let signals: StopSignals

    /// How long a stop may take, in milliseconds. The engine needs about a second to save the received bytes. If the
    /// stop takes longer than this limit, probably a disk hangs. Then the process exits immediately. The next daemon
    /// continues the transfers, as after a crash.
    private static let stopMilliseconds: Int64 = 3_000

    func run() -> Int32 {
        umask(0o077)
        ProcessLimits.raise()
        CoreDumps.disable()
        ProcessMemory.prepare()
        ProcessSQLite.prepare()
        let directory: StoreDirectory
        do throws(Failure) {
            directory = try options.openStore()
        } catch {
            return failed(error, nil)
        }
        let log = DaemonLog(directory)
        do throws(Failure) {
            guard let lock = try directory.acquireLock() else { return 0 }
            return try serve(directory, lock, log)
        } catch {
            return failed(error, log)
        }
    }

    private func serve(_ directory: StoreDirectory, _ lock: StoreLock, _ log: DaemonLog) throws(Failure) -> Int32 {
        let wake: EventFD
        do {
            wake = try EventFD()
        } catch {
            throw Failure.system(.outOfResources, code: error.code, error.description)
        }
        let end = Lock<EngineEnd?>(nil)
        var engineOptions = EngineOptions(lingerMilliseconds: options.lingerMilliseconds, log: { log.write($0) })
        engineOptions.metricsAddress = options.metricsAddress
        let engine = try Engine(
            directory: directory, lock: lock, options: engineOptions,
            ended: { reason in
                end.withLock { $0 = reason }
                wake.set()
            })
        ServiceReadiness.notifyReady()
        log.write(LogEntry(.notice, "serves \(directory.path)"))
        let signal = signals.wait(orSet: wake)
        let reason = end.withLock { $0 }
        if signal == nil, case .failed(let failure) = reason {
            // The failure is logged before the stop, because a stop that takes too long ends the process.
            let isStoreThere = directory.replacementFailure == nil
            log.write(LogEntry(failure), createIfMissing: isStoreThere)
            stop(engine, log, exitCode: 1)
            return 1
        }
        stop(engine, log, exitCode: 0)
        let message =
            if let signal {
                "exits on signal \(signal)"
            } else if case .replaced(let newer) = reason {
                "exits; version \(newer.libraryText) takes over"
            } else {
                "exits, because nothing is left to do"
            }
        log.write(LogEntry(.notice, message))
        return 0
    }

    /// - exitCode: the exit code of the process if the stop takes too long.
    private func stop(_ engine: Engine, _ log: DaemonLog, exitCode: Int32) {
        let isStopped = Lock(false)
        let watch = try? Thread(name: "bh-stop") {
            if isStopped.wait(until: .after(milliseconds: Self.stopMilliseconds), { $0 ? true : nil }) == nil {
                log.write(LogEntry(.warning, "exits without waiting for the disk any longer"))
                _exit(exitCode)
            }
        }
        engine.stop()
        isStopped.change { $0 = true }
        watch?.join()
    }

    private func failed(_ failure: Failure, _ log: DaemonLog?) -> Int32 {
        let entry = LogEntry(failure)
        Program.writeText("backhauld: \(entry.message)\n", to: STDERR_FILENO)
        log?.write(entry)
        return 1
    }
}
