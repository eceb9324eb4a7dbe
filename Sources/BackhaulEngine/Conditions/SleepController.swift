internal import BackhaulModel

/// The machine is about to sleep: received bytes are synced first, for as long as the system waits.
///
/// One for the store.
final class SleepController {
    /// logind waits for 5 s by default (logind.conf(5), InhibitDelayMaxSec).
    private static let patienceMilliseconds: Int64 = 4_000

    private let runtime: any Runtime
    private let monitor: ConditionsMonitor
    private let isSaved: () -> Bool
    private var timer: (any RuntimeTimer)?
    /// The system was informed that it need not wait.
    private var isReady = false

    /// - isSaved: whether all tasks that leave for the sleep have left.
    init(_ runtime: any Runtime, _ monitor: ConditionsMonitor, isSaved: @escaping () -> Bool) {
        self.runtime = runtime
        self.monitor = monitor
        self.isSaved = isSaved
        timer = runtime.timer { [unowned self] in
            becomeReady()
            return []
        }
    }

    func close() { timer?.stop() }

    /// After each change of conditions, and whenever a transfer has ended.
    func consider() {
        guard monitor.conditions.isAboutToSleep.value == true else {
            timer?.stop()
            isReady = false
            return
        }
        guard !isReady else { return }
        if isSaved() { return becomeReady() }
        if timer?.isRunning == false { timer?.start(milliseconds: Self.patienceMilliseconds) }
    }

    private func becomeReady() {
        timer?.stop()
        isReady = true
        monitor.readyToSleep()
    }
}
