internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Wakes the loop when the machine wakes from system sleep. libuv's timers cannot do this, because they use a clock
/// that stops during sleep. So this class uses a timer descriptor on the wall clock. The kernel cancels this timer when
/// the wall clock jumps (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET). The wall clock also jumps after sleep. While the
/// descriptor waits for a jump, it uses no processor time.
final class ResumeWatch {
    private let descriptor: Descriptor
    private var watch: Watch?
    #if DEBUG
    private var moved: (calendar: TestClockWatch, watch: Watch)?
    #endif

    init(_ loop: Loop) throws(SystemError) {
        let number = timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        guard number >= 0 else { throw SystemError.last("cannot make a timer descriptor") }
        descriptor = Descriptor(owning: number)
        watch = try loop.watch(number, .readable) { [unowned self, unowned loop] _ in
            // The read fails with ECANCELED, and the descriptor is then not ready any more.
            var expirations: UInt64 = 0
            _ = read(number, &expirations, 8)
            arm()
            loop.notifyClockStep()
        }
        arm()
        #if DEBUG
        if let calendar = TestClockWatch() {
            let watch = try loop.watch(calendar.number, .readable) { [unowned loop] _ in
                calendar.take()
                loop.notifyClockStep()
            }
            moved = (calendar, watch)
        }
        #endif
    }

    /// Sets the timer to a time that never comes.
    private func arm() {
        var time = itimerspec()
        time.it_value.tv_sec = .max
        _ = timerfd_settime(
            descriptor.number, Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET), &time, nil)
    }
}
