internal import BackhaulModel

/// Delays the machine's sleep until all received bytes are on the disk. The system waits only for a limited time, so
/// the delay ends after `sleepDelayMilliseconds` in any case.
///
/// Each engine has one object of this type.
final class SleepController {
    /// The longest delay of a sleep, in milliseconds. logind waits 5 s by default (logind.conf(5), InhibitDelayMaxSec).
    private static let sleepDelayMilliseconds: Int64 = 4_000

    private let runtime: any Runtime
    private let monitor: ConditionsMonitor
    private let isSaved: () -> Bool
    private var timer: (any RuntimeTimer)?
    /// Whether the system was notified that the engine is ready for this sleep.
    private var isReady = false

    /// - isSaved: whether all tasks that stop for the sleep have stopped.
    init(_ runtime: any Runtime, _ monitor: ConditionsMonitor, isSaved: @escaping () -> Bool) {
        self.runtime = runtime
        self.monitor = monitor
        self.isSaved = isSaved
        timer = runtime.timer { [unowned self] in becomeReady() }
    }

    func close() { timer?.stop() }

    /// Checks whether the machine may sleep. It is called after each change of conditions and after each end of a
    /// transfer.
    func consider() -> [EngineEffect] {
        guard monitor.conditions.isPreparingForSleep.value == true else {
            timer?.stop()
            isReady = false
            return []
        }
        guard !isReady else { return [] }
        if isSaved() { return becomeReady() }
        if timer?.isRunning == false { timer?.start(milliseconds: Self.sleepDelayMilliseconds) }
        return []
    }

    private func becomeReady() -> [EngineEffect] {
        timer?.stop()
        isReady = true
        return [.readyToSleep]
    }
}
