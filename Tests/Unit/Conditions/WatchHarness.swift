@testable import BackhaulConditions
import BackhaulLoop
import BackhaulModel
import BackhaulPlatform
import CLinux
import Glibc

/// The objects of a thread with an event loop. `watch` reads conditions, such as power, from files that the test
/// writes. It reads only the *needed* conditions. A condition is *pending* until it is read.
final class WatchContext {
    var watch: ConditionsWatch?
    var log: [String] = []
    var changes = 0
    /// Closures that are called with the conditions after every change. A closure that returns true is removed.
    fileprivate var awaited: [(Conditions) -> Bool] = []

    func make(
        _ loop: Loop, _ roots: ConditionRoots, _ interval: Int64, _ bus: FakeBus?,
        _ readSystem: @escaping ReadSystem
    ) {
        watch = ConditionsWatch(
            loop: loop, roots: roots,
            log: { [unowned self] in log.append($0.message) }, interval: interval,
            startBus: { _, subscriptions in
                bus?.started(subscriptions)
                return bus
            }, readSystem: readSystem,
            onChange: { [unowned self] in
                changes += 1
                checkAwaited()
            })
    }

    fileprivate func checkAwaited() {
        guard let watch else { return }
        awaited.removeAll { $0(watch.current) }
    }
}

struct WatchHarness: Sendable {
    let tree: FakeTree
    let thread: LoopThread<WatchContext>

    /// `ownNetwork`: the loop's thread enters a network namespace of its own, and opens its sockets in that namespace.
    /// Only a privileged process may do this.
    init(
        _ tree: FakeTree, processes: String? = nil, interval: Int64 = 30_000, bus: FakeBus? = nil,
        ownNetwork: Bool = false, readSystem: @escaping ReadSystem = SystemReadings.read(_:in:)
    ) throws {
        self.tree = tree
        let roots = ConditionRoots(system: tree.root, processes: processes ?? tree.root)
        thread = try LoopThread(name: "test loop") { loop in
            if ownNetwork, bhl_unshare_network() != 0 { throw SystemError.last("cannot leave the network") }
            let context = WatchContext()
            context.make(loop, roots, interval, bus, readSystem)
            return context
        }
    }

    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (WatchContext) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            thread.post { continuation.resume(returning: body($0)) }
        }
    }

    func need(_ needs: ConditionSet) async { await onLoop { $0.watch?.needs = needs } }

    var current: Conditions {
        get async { await onLoop { $0.watch?.current ?? Conditions() } }
    }

    /// Waits until `isWanted` accepts the conditions, and returns them.
    @discardableResult
    func until(_ isWanted: @escaping @Sendable (Conditions) -> Bool) async -> Conditions {
        await withCheckedContinuation { continuation in
            thread.post { context in
                context.awaited.append { conditions in
                    guard isWanted(conditions) else { return false }
                    continuation.resume(returning: conditions)
                    return true
                }
                context.checkAwaited()
            }
        }
    }

    /// Waits until all needed conditions are read.
    @discardableResult
    func settled() async -> Conditions { await untilPending([]) }

    /// Waits until at most these conditions are pending.
    @discardableResult
    func untilPending(_ pending: ConditionSet) async -> Conditions {
        await withCheckedContinuation { continuation in
            thread.post { context in
                context.awaited.append { [unowned context] conditions in
                    guard context.watch?.pending.isSubset(of: pending) ?? true else { return false }
                    continuation.resume(returning: conditions)
                    return true
                }
                context.checkAwaited()
            }
        }
    }

    func readAll() async -> Conditions { await readAll(times: 1)[0] }

    /// Begins several listings (readings of all conditions) in one iteration of the loop, and returns their results.
    func readAll(times: Int) async -> [Conditions] {
        await withCheckedContinuation { continuation in
            thread.post { context in
                var results: [Conditions] = []
                for _ in 0..<times {
                    context.watch?.readAll { conditions in
                        results.append(conditions)
                        if results.count == times { continuation.resume(returning: results) }
                    }
                }
            }
        }
    }

    func stop() {
        thread.post { context in
            context.watch?.close()
            context.watch = nil
        }
        thread.stop()
    }
}

/// A fake message bus, whose readings the test sets.
final class FakeBus: SystemBus {
    private struct State {
        var readings = BusReadings()
        var starts: [ConditionSet] = []
        var subscriptions: [ConditionSet] = []
        var closes = 0
        var sleepReleases = 0
    }

    private let state = Lock(State())
    private let wakeUp: EventFD

    init() throws { wakeUp = try EventFD() }

    var number: Int32 { wakeUp.number }
    var starts: [ConditionSet] { state.withLock { $0.starts } }
    var subscriptions: [ConditionSet] { state.withLock { $0.subscriptions } }
    var closes: Int { state.withLock { $0.closes } }
    var sleepReleases: Int { state.withLock { $0.sleepReleases } }

    func started(_ subscriptions: ConditionSet) {
        state.withLock { state in
            state.starts.append(subscriptions)
            state.subscriptions.append(subscriptions)
        }
    }

    func subscribe(_ subscriptions: ConditionSet) { state.withLock { $0.subscriptions.append(subscriptions) } }

    func setReadings(_ change: (inout BusReadings) -> Void) {
        state.withLock {
            change(&$0.readings)
            $0.readings.isSettled = true
        }
        wakeUp.set()
    }

    /// Resets the readings to those of a bus that has not replied yet.
    func resetReadings() { state.withLock { $0.readings = BusReadings() } }

    func takeReadings() -> BusReadings {
        wakeUp.clear()
        return state.withLock { state in
            state.readings.requested = state.subscriptions.last ?? []
            return state.readings
        }
    }

    func readyToSleep() { state.withLock { $0.sleepReleases += 1 } }
    func close() { state.withLock { $0.closes += 1 } }
}

/// Counts the threads of this process that have a given name. Threads with other names are not counted, because other
/// tests run threads in this process at the same time.
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
