internal import BackhaulPlatform
internal import CLinux
internal import CUV
internal import Glibc

/// libuv, which owns the timers and watches the event set, and is run only when a timer of its is due: uv_run polls its
/// own descriptor each time and ends the process when that fails, so the fewer its polls, and the closer before each
/// the proof that the descriptor is still its own, the better.
///
/// Unsafe: libuv's handles stay where they are from `init` to the end of the loop, and only the loop's thread uses
/// them.
final class Timers {
    private let loop: UnsafeMutablePointer<uv_loop_t>
    private let gate: UnsafeMutablePointer<uv_poll_t>
    private let set: Int32
    private var free: [UnsafeMutablePointer<uv_timer_t>] = []
    private var running: [ObjectIdentifier: Running] = [:]
    private(set) var isOpen = true
    private var isCalling = false

    private struct Running {
        unowned let timer: LoopTimer
    }

    init(watching set: Int32) throws(SystemError) {
        try Timers.tryCalls()
        self.set = set
        loop = .allocate(capacity: 1)
        gate = .allocate(capacity: 1)
        let result = uv_loop_init(loop)
        guard result == 0 else {
            loop.deallocate()
            gate.deallocate()
            throw SystemError(code: -result, attempt: "cannot start libuv")
        }
        // Level-triggered and left ready: our own wait takes the events. The watch is there because libuv takes a loop
        // without a handle for one that is over, and as the sign by which its descriptor is known.
        let gated = uv_poll_init(loop, gate, set)
        guard gated == 0, uv_poll_start(gate, Int32(UV_READABLE.rawValue), { _, _, _ in }) == 0 else {
            if gated == 0 {
                uv_close(UnsafeMutableRawPointer(gate).assumingMemoryBound(to: uv_handle_t.self), nil)
                uv_run(loop, UV_RUN_NOWAIT)
            }
            uv_loop_close(loop)
            loop.deallocate()
            gate.deallocate()
            var error = SystemError(code: gated == 0 ? ENOMEM : -gated, attempt: "cannot watch the event set")
            error.lacksWatches = error.code == ENOSPC
            throw error
        }
        uv_run(loop, UV_RUN_NOWAIT)
    }

    /// libuv ends the process where a call fails that it takes for granted: the pipe for its signals (unix/signal.c,
    /// uv__signal_global_init), the watch of each of its own descriptors (unix/linux-core.c, uv__io_poll), and memory
    /// for the list of these (unix/core.c, maybe_resize). The same calls are made here first, so that a lack is an
    /// error.
    private static func tryCalls() throws(SystemError) {
        do throws(SystemError) {
            guard let memory = malloc(1 << 16) else { throw SystemError(code: ENOMEM, attempt: "no memory is left") }
            Glibc.free(memory)
            let trial = try EventSet()
            var watched: [WakeUp] = []
            for _ in 0..<descriptorCount {
                let one = try WakeUp()
                try trial.add(one.number, EPOLLIN.rawValue, 0)
                watched.append(one)
            }
        } catch {
            var error = error
            error.attempt = "cannot start libuv"
            throw error
        }
    }

    /// Of a loop: its epoll set, an eventfd and two pipes.
    private static let descriptorCount = 6

    /// Milliseconds until the next timer is due, -1 when none runs.
    var timeout: Int32 { isOpen ? uv_backend_timeout(loop) : -1 }

    /// Milliseconds by the timers' clock, as of `updateTime`.
    var now: Int64 { isOpen ? Int64(uv_now(loop)) : 0 }

    func updateTime() {
        if isOpen { uv_update_time(loop) }
    }

    /// Calls the handlers of the timers that are due. False when the host has closed libuv's descriptor.
    func runDue() -> Bool {
        guard isOpen, uv_backend_timeout(loop) == 0 else { return isOpen }
        guard backendIsOurs else { return false }
        isCalling = true
        uv_run(loop, UV_RUN_NOWAIT)
        isCalling = false
        return true
    }

    /// Only libuv's own epoll set knows our event set; the change leaves its registration as it was.
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

    func giveBack(_ handle: UnsafeMutablePointer<uv_timer_t>, of timer: LoopTimer) {
        running[ObjectIdentifier(timer)] = nil
        uv_timer_stop(handle)
        handle.pointee.data = nil
        free.append(handle)
    }

    func start(_ handle: UnsafeMutablePointer<uv_timer_t>, _ milliseconds: Int64) {
        // A timer that starts itself anew with 0 would keep uv_run of libuv 1.44 busy without an end.
        let delay = isCalling ? max(1, milliseconds) : milliseconds
        uv_timer_start(handle, { handle in
            guard let data = handle?.pointee.data else { return }
            // Retained for the call: the handler may drop the last reference.
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

    /// Moves the timers that run forward by a time in which their clock stood still.
    func slept(milliseconds: Int64) {
        for entry in running.values {
            guard let handle = entry.timer.handle, isRunning(handle) else { continue }
            start(handle, max(0, millisecondsLeft(handle) - milliseconds))
        }
    }

    /// Ends the timers and libuv's loop. When libuv's descriptors are not its own any more, they are left alone, and
    /// its memory with them: closing the loop would close files of the host's.
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
        uv_close(UnsafeMutableRawPointer(gate).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle)?.deallocate()
        }
        uv_run(loop, UV_RUN_NOWAIT)
        if uv_loop_close(loop) == 0 { loop.deallocate() }
    }
}
