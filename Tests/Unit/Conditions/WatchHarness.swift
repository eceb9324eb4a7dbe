@testable import BackhaulConditions
import BackhaulLoop
import BackhaulModel
import BackhaulPlatform
import CLinux
import Glibc

/// Owns a watch on a loop's thread. The watch reads trees that a test writes.
final class WatchDesk {
    var watch: ConditionsWatch?
    var log: [String] = []
    var changes = 0
    /// Called after every change. Each is removed when it returns true.
    fileprivate var awaited: [(Conditions) -> Bool] = []

    func make(
        _ loop: Loop, _ roots: ConditionRoots, _ interval: Int64, _ bus: PlayedBus?,
        _ readSystem: @escaping ReadSystem
    ) {
        watch = ConditionsWatch(
            loop: loop, roots: roots,
            log: { [unowned self] in log.append($0.message) }, interval: interval, startBus: { _, wants in
                bus?.started(wants)
                return bus
            }, readSystem: readSystem,
            onChange: { [unowned self] in
                changes += 1
                look()
            })
    }

    fileprivate func look() {
        guard let watch else { return }
        awaited.removeAll { $0(watch.current) }
    }
}

struct WatchHarness: Sendable {
    let tree: FakeTree
    let thread: LoopThread<WatchDesk>

    /// `ownNetwork`: the loop's thread enters its own network namespace, in which its sockets are. This needs
    /// privilege.
    init(
        _ tree: FakeTree, processes: String? = nil, interval: Int64 = 30_000, bus: PlayedBus? = nil,
        ownNetwork: Bool = false, readSystem: @escaping ReadSystem = SystemReadings.read(_:in:)
    ) throws {
        self.tree = tree
        let roots = ConditionRoots(system: tree.root, processes: processes ?? tree.root)
        thread = try LoopThread(name: "test loop", make: { loop in
            if ownNetwork, bhl_leave_network() != 0 { throw SystemError.last("cannot leave the network") }
            let desk = WatchDesk()
            desk.make(loop, roots, interval, bus, readSystem)
            return desk
        }, broken: { _ in })
    }

    func ask<Answer: Sendable>(_ body: @escaping @Sendable (WatchDesk) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            thread.post { continuation.resume(returning: body($0)) }
        }
    }

    func need(_ needs: ConditionNeeds) async { await ask { $0.watch?.needs = needs } }

    var current: Conditions {
        get async { await ask { $0.watch?.current ?? Conditions() } }
    }

    /// Waits until the readings meet the condition.
    @discardableResult
    func until(_ isWanted: @escaping @Sendable (Conditions) -> Bool) async -> Conditions {
        await withCheckedContinuation { continuation in
            thread.post { desk in
                desk.awaited.append { conditions in
                    guard isWanted(conditions) else { return false }
                    continuation.resume(returning: conditions)
                    return true
                }
                desk.look()
            }
        }
    }

    /// Waits until all needed conditions are read.
    @discardableResult
    func settled() async -> Conditions { await untilPending([]) }

    /// Waits until at most these conditions are pending.
    @discardableResult
    func untilPending(_ pending: ConditionNeeds) async -> Conditions {
        await withCheckedContinuation { continuation in
            thread.post { desk in
                desk.awaited.append { [unowned desk] conditions in
                    guard desk.watch?.pending.isSubset(of: pending) ?? true else { return false }
                    continuation.resume(returning: conditions)
                    return true
                }
                desk.look()
            }
        }
    }

    func readAll() async -> Conditions {
        await withCheckedContinuation { continuation in
            thread.post { desk in desk.watch?.readAll { continuation.resume(returning: $0) } }
        }
    }

    func stop() {
        thread.post { desk in
            desk.watch?.close()
            desk.watch = nil
        }
        thread.stop()
    }
}

/// A fake message bus, whose readings the test sets.
final class PlayedBus: SystemBus {
    private struct State {
        var readings = BusReadings()
        var starts: [ConditionNeeds] = []
        var wants: [ConditionNeeds] = []
        var closes = 0
        var sleepReleases = 0
    }

    private let state = Lock(State())
    private let wakeUp: WakeUp

    init() throws { wakeUp = try WakeUp() }

    var number: Int32 { wakeUp.number }
    var starts: [ConditionNeeds] { state.withLock { $0.starts } }
    var wants: [ConditionNeeds] { state.withLock { $0.wants } }
    var closes: Int { state.withLock { $0.closes } }
    var sleepReleases: Int { state.withLock { $0.sleepReleases } }

    func started(_ wants: ConditionNeeds) {
        state.withLock { state in
            state.starts.append(wants)
            state.wants.append(wants)
        }
    }

    func want(_ wants: ConditionNeeds) { state.withLock { $0.wants.append(wants) } }

    func say(_ change: (inout BusReadings) -> Void) {
        state.withLock {
            change(&$0.readings)
            $0.readings.isSettled = true
        }
        wakeUp.set()
    }

    /// Resets the readings to those of a new bus without a reply.
    func forget() { state.withLock { $0.readings = BusReadings() } }

    func takeReadings() -> BusReadings {
        wakeUp.clear()
        return state.withLock { state in
            state.readings.asked = state.wants.last ?? []
            return state.readings
        }
    }

    func readyToSleep() { state.withLock { $0.sleepReleases += 1 } }
    func close() { state.withLock { $0.closes += 1 } }
}

/// Counts the threads of this process by name, because other tests run at the same time.
enum ProcessCount {
    static func threads(named name: String) -> Int {
        names(in: "/proc/self/task").count { task in
            let text = try? SystemTree(root: "/proc/self/task").text("\(task)/comm")
            return text == name
        }
    }

    private static func names(in folder: String) -> [String] {
        (try? SystemTree(root: folder).entries("")) ?? []
    }
}
