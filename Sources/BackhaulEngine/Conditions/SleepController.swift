internal import BackhaulModel

/// Delays the machine's sleep until received bytes are synced, for as long as the system waits.
///
/// Each store has one.
final class SleepController {
    /// The longest delay of a sleep, in milliseconds. logind waits 5 s by default (logind.conf(5), InhibitDelayMaxSec).
    private static let patienceMilliseconds: Int64 = 4_000

    private let runtime: any Runtime
    private let monitor: ConditionsMonitor
    private let isSaved: () -> Bool
    private var timer: (any RuntimeTimer)?
    /// Whether the system was informed that it does not have to wait.
    private var isReady = false

    /// - isSaved: whether all tasks that stop for the sleep have stopped.
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

    /// Checks whether the machine may sleep. Called after each change of conditions and after each end of a transfer.
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
