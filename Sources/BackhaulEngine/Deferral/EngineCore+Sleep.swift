internal import BackhaulLoop
internal import BackhaulModel

/// The machine is about to sleep: what has come is synced first, as far as the system waits for it.
extension EngineCore {
    /// logind waits for 5 s, unless it is told otherwise (logind.conf(5), InhibitDelayMaxSec).
    private static let sleepPatience: Int64 = 4_000

    /// After any change of conditions, and whenever a transfer has left.
    func considerSleep() {
        guard monitor.conditions.isAboutToSleep.value == true else {
            deferral.sleepTimer?.stop()
            deferral.isReadyToSleep = false
            return
        }
        guard !deferral.isReadyToSleep else { return }
        if runners.values.allSatisfy({ !$0.isDeferred }) { return readyToSleep() }
        let timer = deferral.sleepTimer ?? loop.timer { [unowned self] in readyToSleep() }
        deferral.sleepTimer = timer
        if !timer.isRunning { timer.start(milliseconds: Self.sleepPatience) }
    }

    private func readyToSleep() {
        guard !deferral.isReadyToSleep else { return }
        deferral.sleepTimer?.stop()
        deferral.isReadyToSleep = true
        monitor.readyToSleep()
    }
}
