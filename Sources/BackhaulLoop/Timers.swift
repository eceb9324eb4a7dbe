internal import BackhaulPlatform
internal import CLinux
internal import CUV
internal import Glibc

/// The timers of a loop. libuv implements them with a loop of its own. This inner loop also watches the event set
/// (`EpollSet`), and runs only when one of its timers is due. Each call of `uv_run` polls libuv's own descriptor. If
/// this poll fails, `uv_run` aborts the process. So `uv_run` is called as rarely as possible, and only after a check
/// that the descriptor still belongs to libuv.
///
/// Unsafe: libuv's handles stay at their addresses from `init` to the end of the loop, and only the loop's thread uses
/// them.
final class Timers {
    private let loop: UnsafeMutablePointer<uv_loop_t>
    private let pollHandle: UnsafeMutablePointer<uv_poll_t>
    private let set: Int32
    private var free: [UnsafeMutablePointer<uv_timer_t>] = []
    private var running: [ObjectIdentifier: Running] = [:]
    private(set) var isOpen = true
    private var isCalling = false

    private struct Running {
        unowned let timer: LoopTimer
    }

    init(watching set: Int32) throws(SystemError) {
        try Timers.preflight()
        self.set = set
        loop = .allocate(capacity: 1)
        pollHandle = .allocate(capacity: 1)
        let result = uv_loop_init(loop)
        guard result == 0 else {
            loop.deallocate()
            pollHandle.deallocate()
            throw SystemError(code: -result, messageStart: "cannot start libuv")
        }
        // libuv watches the event set, but takes no events from it, because the watch is level-triggered.
        // `EpollSet.wait` takes the events. The watch has two purposes. First, libuv treats a loop without a handle as
        // ended. Second, the watch registers the event set in libuv's descriptor. By this registration, `backendIsOurs`
        // recognises the descriptor.
        let gated = uv_poll_init(loop, pollHandle, set)
        guard gated == 0, uv_poll_start(pollHandle, Int32(UV_READABLE.rawValue), { _, _, _ in }) == 0 else {
            if gated == 0 {
                uv_close(UnsafeMutableRawPointer(pollHandle).assumingMemoryBound(to: uv_handle_t.self), nil)
                uv_run(loop, UV_RUN_NOWAIT)
            }
            uv_loop_close(loop)
            loop.deallocate()
            pollHandle.deallocate()
            var error = SystemError(code: gated == 0 ? ENOMEM : -gated, messageStart: "cannot watch the event set")
            error.lacksWatches = error.code == ENOSPC
            throw error
        }
        uv_run(loop, UV_RUN_NOWAIT)
    }

    /// Tests the resources without which libuv aborts the process. Here, a missing resource becomes an error. libuv
    /// creates a pipe for its signals (unix/signal.c, uv__signal_global_init), watches each of its own descriptors
    /// (unix/linux-core.c, uv__io_poll), and allocates memory for the list of these descriptors (unix/core.c,
    /// maybe_resize).
    private static func preflight() throws(SystemError) {
        do throws(SystemError) {
            guard let memory = malloc(1 << 16) else {
                throw SystemError(code: ENOMEM, messageStart: "no memory is left")
            }
            Glibc.free(memory)
            let trial = try EpollSet()
            var watched: [EventFD] = []
            for _ in 0..<descriptorCount {
                let one = try EventFD()
                try trial.add(one.number, EPOLLIN.rawValue, 0)
                watched.append(one)
            }
        } catch {
            var error = error
            error.messageStart = "cannot start libuv"
            throw error
        }
    }

    /// The number of descriptors that one loop of libuv opens: an epoll set, an eventfd and two pipes.
    private static let descriptorCount = 6

    /// Milliseconds until the next timer is due; -1 if no timer runs.
    var timeout: Int32 { isOpen ? uv_backend_timeout(loop) : -1 }

    /// The time of the timers' clock at the last call of `updateTime`, in milliseconds.
    var now: Int64 { isOpen ? Int64(uv_now(loop)) : 0 }

    func updateTime() {
        if isOpen { uv_update_time(loop) }
    }

    /// Calls the handlers of due timers. Returns false when the host (the program that embeds the library) has closed
    /// libuv's descriptor.
    func runDue() -> Bool {
        guard isOpen, uv_backend_timeout(loop) == 0 else { return isOpen }
        guard backendIsOurs else { return false }
        isCalling = true
        uv_run(loop, UV_RUN_NOWAIT)
        isCalling = false
        return true
    }

    /// Whether libuv's descriptor still belongs to libuv. The test modifies the registration of the event set in this
    /// descriptor. The test succeeds only if the descriptor is libuv's epoll set, because no other set contains the
    /// event set. The registered events stay the same, so the test has no effect.
    private var backendIsOurs: Bool {
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: set))
        return epoll_ctl(uv_backend_fd(loop), EPOLL_CTL_MOD, set, &event) == 0
    }

    func take(for timer: LoopTimer) -> UnsafeMutablePointer<uv_timer_t>? {
        guard isOpen else { return nil }
        let handle: UnsafeMutablePointer<uv_timer_t>
        if let used = free.popLast() {
            handle = used
        } else {
            handle = .allocate(capacity: 1)
            uv_timer_init(loop, handle)
        }
        handle.pointee.data = Unmanaged.passUnretained(timer).toOpaque()
        running[ObjectIdentifier(timer)] = Running(timer: timer)
        return handle
    }

    func recycle(_ handle: UnsafeMutablePointer<uv_timer_t>, of timer: LoopTimer) {
        running[ObjectIdentifier(timer)] = nil
        uv_timer_stop(handle)
        handle.pointee.data = nil
        free.append(handle)
    }

    func start(_ handle: UnsafeMutablePointer<uv_timer_t>, _ milliseconds: Int64) {
        // If a timer restarted itself with a delay of 0 ms, `uv_run` of libuv 1.44 would never return.
        let delay = isCalling ? max(1, milliseconds) : milliseconds
        uv_timer_start(handle, { handle in
            guard let data = handle?.pointee.data else { return }
            // The timer is retained during the call, because the handler may drop the last reference to the timer.
            Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue().fire()
        }, UInt64(delay), 0)
    }

    func stop(_ handle: UnsafeMutablePointer<uv_timer_t>) { uv_timer_stop(handle) }

    func isRunning(_ handle: UnsafeMutablePointer<uv_timer_t>) -> Bool {
        uv_is_active(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) != 0
    }

    func millisecondsLeft(_ handle: UnsafeMutablePointer<uv_timer_t>) -> Int64 {
        Int64(clamping: uv_timer_get_due_in(handle))
    }

    /// Shortens the running timers by the time in which their clock did not run.
    func slept(milliseconds: Int64) {
        for entry in running.values {
            guard let handle = entry.timer.handle, isRunning(handle) else { continue }
            start(handle, max(0, millisecondsLeft(handle) - milliseconds))
        }
    }

    /// Ends the timers and libuv's loop. If the host has closed libuv's descriptors, this function leaks the loop and
    /// its memory, because libuv would close files of the host that have the same numbers.
    func close() {
        guard isOpen else { return }
        isOpen = false
        for entry in running.values {
            if let handle = entry.timer.handle { free.append(handle) }
            entry.timer.handle = nil
        }
        running = [:]
        guard backendIsOurs else { return }
        for handle in free {
            uv_close(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) { handle in
                UnsafeMutableRawPointer(handle)?.deallocate()
            }
        }
        free = []
        uv_close(UnsafeMutableRawPointer(pollHandle).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle)?.deallocate()
        }
        uv_run(loop, UV_RUN_NOWAIT)
        if uv_loop_close(loop) == 0 { loop.deallocate() }
    }
}
