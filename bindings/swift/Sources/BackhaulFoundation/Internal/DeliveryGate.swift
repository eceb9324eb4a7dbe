internal import Backhaul
internal import Foundation

/// Delays the delegate calls for tasks that this process does not know yet, because an earlier run of the program made
/// them. Normally, a program makes its session, and then lists the tasks in order to know them. If a delegate call
/// came before the list, the program would not know the task, and its file would be lost.
final class DeliveryGate: Sendable {
    private struct State {
        var isOpen = false
        /// How long the delivering thread still waits if the program does not list its tasks.
        var remaining = Duration.seconds(5)
    }

    /// The delivering thread waits in short steps, and each step counts only as its planned length. So if the machine
    /// is busy, or if the process is stopped, the program has more time.
    private static let step = Duration.milliseconds(100)

    private let state = Locked(State())

    func open() { state.with { $0.isOpen = true } }

    /// Opens the gate after at most one second.
    func openSoon() { state.with { $0.remaining = min($0.remaining, .seconds(1)) } }

    var isClosed: Bool { state.with { !$0.isOpen && $0.remaining > .zero } }

    /// Waits for one step, or until another thread wakes the delivering thread.
    func waitForStep(_ wait: DescriptorWait) {
        let start = ContinuousClock.now
        wait.wait([], milliseconds: 100)
        let waited = min(ContinuousClock.now - start, DeliveryGate.step)
        state.with { $0.remaining -= waited }
    }
}
