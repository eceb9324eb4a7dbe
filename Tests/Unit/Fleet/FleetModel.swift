import TestSupport

@testable import BackhaulFleet

/// What a worker knows and does, and the transfers of its local engine. `Worker` and `Publication` have the same steps.
/// A worker can be paused before each of them, for any time.
struct WorkerModel: Hashable {
    enum Step: Hashable {
        case free
        /// The file of the run has its temporary name beside the destination.
        case moved(Int8)
        /// The database has refused the publication.
        case refused(Int8)
        case decided(Int8)
        /// The worker has seen that its lease holds, and will rename the file. It does not look again.
        case placing(Int8)
        case linked(Int8)
        case placed(Int8)
        /// The destination exists.
        case failed(Int8)
        case cancelled(Int8)
        case putsBack(Int8)
        /// Renames the files of earlier runs, of which `next` is the next one. `file` names the file of the row.
        case adopting(Int8, file: Int8, next: Int8)
        case comparing(Int8, file: Int8)
        case clearing(Int8)
    }

    enum Transfer: UInt16 { case none, running, complete, moved, cancelled }

    var step = Step.free
    /// The run that the worker runs, as its memory says; 0 if there is none.
    var running: Int8 = 0
    /// Whether the lease holds by the worker's own clock.
    var mayPublish = false
    private var transfers: UInt16 = 0

    subscript(run: Int8) -> Transfer {
        get { Transfer(rawValue: transfers >> (UInt16(run) * 3) & 7) ?? .none }
        set {
            let shift = UInt16(run) * 3
            transfers = transfers & ~(7 << shift) | newValue.rawValue << shift
        }
    }

    mutating func restart() { (step, running, mayPublish) = (.free, 0, false) }

    /// Ends the work on the run. Its local transfer is forgotten.
    mutating func finish(_ run: Int8) {
        if running == run { running = 0 }
        self[run] = .none
        step = .free
    }
}

/// A task, two workers, and the shared directory of the destination. A file is named by the run that downloaded it.
struct FleetModel: Hashable {
    /// With three runs there are ten times as many states.
    static let lastRun: Int8 = Slice.hasAll ? 3 : 2
    static let noFile: Int8 = 0
    /// A file that was there before, or that another program made.
    static let foreignFile: Int8 = -1

    var task = TaskModel()
    var workers = (WorkerModel(), WorkerModel())
    private var temporaryFiles: UInt16 = 0
    var destination: Int8
    let replaces: Bool
    /// Whether a worker that takes a task over adopts its file.
    private let isFenced: Bool

    init(destination: Int8, replaces: Bool, isFenced: Bool = true) {
        self.destination = destination
        self.replaces = replaces
        self.isFenced = isFenced
    }

    static func == (left: Self, right: Self) -> Bool {
        left.task == right.task && left.workers == right.workers && left.destination == right.destination
            && left.temporaryFiles == right.temporaryFiles
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(task)
        hasher.combine(workers.0)
        hasher.combine(workers.1)
        hasher.combine(temporaryFiles)
        hasher.combine(destination)
    }

    subscript(worker: Int8) -> WorkerModel {
        get { worker == 0 ? workers.0 : workers.1 }
        set { if worker == 0 { workers.0 = newValue } else { workers.1 = newValue } }
    }

    /// The file with the temporary name of the run.
    private func temporary(_ run: Int8) -> Int8 { Int8(temporaryFiles >> (UInt16(run) * 2) & 3) }

    private mutating func setTemporary(_ run: Int8, _ file: Int8) {
        let shift = UInt16(run) * 2
        temporaryFiles = temporaryFiles & ~(3 << shift) | UInt16(file) << shift
    }

    private func changed(_ change: (inout FleetModel) -> Void) -> FleetModel {
        var copy = self
        change(&copy)
        return copy
    }

    // MARK: What happens

    /// All states to which one step of a worker, of the host or of the clock leads.
    func next() -> [FleetModel] {
        var all = [changed { $0.task.cancel() }]
        for worker in [0, 1] as [Int8] {
            all += outside(worker)
            all += self[worker].step == .free ? free(worker) : busy(worker)
        }
        return all
    }

    /// Kills, clocks, and the local engine, which does not wait for the worker.
    private func outside(_ worker: Int8) -> [FleetModel] {
        var all = [changed { $0[worker].restart() }, changed { $0[worker].mayPublish = false }]
        if !self[worker].mayPublish { all.append(changed { $0.task.setLease(worker, false) }) }
        for run in 1...Self.lastRun where self[worker][run] == .running {
            all.append(changed { $0[worker][run] = .complete })
        }
        return all
    }

    /// A statement has an effect, or has none because the connection ended, or has an effect and its reply is lost.
    private func statement(
        _ worker: Int8, _ effect: (inout TaskModel) -> Void, then: (inout FleetModel) -> Void
    ) -> [FleetModel] {
        let lost = changed {
            effect(&$0.task)
            $0[worker].step = .free
        }
        let done = changed {
            effect(&$0.task)
            then(&$0)
        }
        return [changed { $0[worker].step = .free }, lost, done]
    }

    /// The parts of the worker's loop, in any order.
    private func free(_ worker: Int8) -> [FleetModel] {
        var all = [
            changed {
                $0.task.setLease(worker, true)
                $0[worker].mayPublish = true
            },
            changed { $0.continueOwn(worker) }, changed { $0.task.releaseExpired() },
            changed { $0.applyControls(worker) },
        ]
        if task.run < Self.lastRun {
            if self[worker].mayPublish { all += claims(worker) }
            all.append(changed { _ = $0.task.takeOver(by: worker) })
            all.append(changed { if $0.task.takeOver(by: worker) != nil { $0.complete(worker) } })
        }
        if task.state == .publishing, task.worker == worker { all.append(changed { $0.complete(worker) }) }
        for run in 1...Self.lastRun { if let reported = report(run, worker) { all.append(reported) } }
        return all
    }

    private mutating func continueOwn(_ worker: Int8) {
        let own = task.state == .running && task.worker == worker ? task.run : 0
        if self[worker].running != own { self[worker].running = own }
        for run in 1...Self.lastRun where run != own && self[worker][run] == .running {
            self[worker][run] = .cancelled
        }
        if own != 0, self[worker][own] == .none { self[worker][own] = .running }
    }

    private mutating func applyControls(_ worker: Int8) {
        let run = self[worker].running
        guard run != 0, task.wanted == .cancel, task.worker == worker, task.run == run else { return }
        if self[worker][run] == .running { self[worker][run] = .cancelled }
    }

    private func claims(_ worker: Int8) -> [FleetModel] {
        let lost = changed { _ = $0.task.claim(by: worker) }
        var started = lost
        guard lost.task != task else { return [] }
        started[worker].running = lost.task.run
        started[worker][lost.task.run] = .running
        // The local engine cannot start the task.
        var refused = lost
        refused[worker].step = .putsBack(lost.task.run)
        return [lost, started, refused]
    }

    private mutating func complete(_ worker: Int8) {
        guard let file = task.publishingRun else { return }
        self[worker].step =
            isFenced ? .adopting(task.run, file: file, next: file) : .comparing(task.run, file: file)
    }

    private func report(_ run: Int8, _ worker: Int8) -> FleetModel? {
        let transfer = self[worker][run]
        guard transfer != .none, transfer != .running else { return nil }
        return changed {
            if $0[worker].running != run {
                $0.setTemporary(run, 0)
                $0[worker].finish(run)
            } else if transfer == .cancelled {
                $0[worker].step = .cancelled(run)
            } else {
                if transfer == .complete { $0.setTemporary(run, run) }
                $0[worker][run] = .moved
                $0[worker].step = .moved(run)
            }
        }
    }

    // MARK: The steps of a publication

    private func busy(_ worker: Int8) -> [FleetModel] {
        switch self[worker].step {
        case .free: []
        case .moved(let run): publish(run, worker)
        case .refused(let run):
            [
                changed {
                    $0.setTemporary(run, 0)
                    $0[worker].finish(run)
                }
            ]
        case .decided(let run): [afterCheck(run, worker)]
        case .placing(let run): [place(run, worker)]
        case .linked(let run):
            [
                changed {
                    $0.setTemporary(run, 0)
                    $0[worker].step = .placed(run)
                }
            ]
        case .placed(let run): end(run, .succeeded, worker)
        case .failed(let run): end(run, .failed, worker)
        case .cancelled(let run):
            statement(
                worker, { $0.putBack(run, by: worker) },
                then: {
                    if $0[worker].running == run { $0[worker].running = 0 }
                    $0[worker].step = .clearing(run)
                })
        case .putsBack(let run):
            statement(worker, { $0.putBack(run, by: worker) }, then: { $0[worker].step = .free })
        case .adopting(let run, let file, let next): [adopt(run, file, next, worker)]
        case .comparing(let run, let file):
            [changed { $0[worker].step = destination == file ? .placed(run) : .putsBack(run) }]
        case .clearing(let run):
            [
                changed {
                    for earlier in 1...run { $0.setTemporary(earlier, 0) }
                    $0[worker].finish(run)
                }
            ]
        }
    }

    private func publish(_ run: Int8, _ worker: Int8) -> [FleetModel] {
        guard temporary(run) != 0 else { return [changed { $0[worker].finish(run) }] }
        var isDecided = false
        return statement(
            worker, { isDecided = $0.publish(run, by: worker) },
            then: { $0[worker].step = isDecided ? .decided(run) : .refused(run) })
    }

    private func end(_ run: Int8, _ state: FleetTaskState, _ worker: Int8) -> [FleetModel] {
        statement(
            worker, { $0.end(run, state, by: worker) },
            then: {
                if $0[worker].running == run { $0[worker].running = 0 }
                $0[worker].step = .clearing(run)
            })
    }

    private func afterCheck(_ run: Int8, _ worker: Int8) -> FleetModel {
        changed { if self[worker].mayPublish { $0[worker].step = .placing(run) } else { $0[worker].finish(run) } }
    }

    private func place(_ run: Int8, _ worker: Int8) -> FleetModel {
        let file = temporary(run)
        return changed {
            if file == 0 {
                $0[worker].step = .clearing(run)
            } else if replaces {
                $0.destination = file
                $0.setTemporary(run, 0)
                $0[worker].step = .placed(run)
            } else if destination == 0 || destination == file {
                $0.destination = file
                $0[worker].step = .linked(run)
            } else {
                $0[worker].step = .failed(run)
            }
        }
    }

    private func adopt(_ run: Int8, _ file: Int8, _ next: Int8, _ worker: Int8) -> FleetModel {
        if next < run, temporary(next) == 0 {
            return changed { $0[worker].step = .adopting(run, file: file, next: next + 1) }
        }
        var adopted = self
        if next < run {
            adopted.setTemporary(run, temporary(next))
            adopted.setTemporary(next, 0)
        }
        if adopted.temporary(run) != 0 { return adopted.afterCheck(run, worker) }
        adopted[worker].step = .comparing(run, file: file)
        return adopted
    }
}
