internal import BackhaulPlatform
internal import CUV

/// A loop of libuv, and the handle that wakes its thread.
///
/// Unsafe: libuv's structures stay at their addresses until `deinit`. All handles of the loop were allocated with
/// `allocate`, and are freed in the call-back of `uv_close`.
final class LibuvLoop: @unchecked Sendable {
    // Unchecked: threads other than the loop's thread only call `wake`. libuv allows this for `uv_async_send`. `deinit`
    // runs after the end of the loop's thread.
    let pointer: UnsafeMutablePointer<uv_loop_t>
    private let waker: UnsafeMutablePointer<uv_async_t>

    init() throws(SystemError) {
        // libuv ends the process if it cannot open the pipe of the first loop (unix/signal.c,
        // uv__signal_global_reinit). So a lack of descriptors is found before. A loop opens an epoll set, an eventfd
        // and two pipes.
        try EventFD.checkDescriptors(6)
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let waker = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
        var result = uv_loop_init(loop)
        if result == 0 {
            result = uv_async_init(loop, waker) { handle in Loop.woken(handle?.pointee.loop) }
            if result != 0 { uv_loop_close(loop) }
        }
        guard result == 0 else {
            loop.deallocate()
            waker.deallocate()
            throw SystemError(code: -result, messageStart: "cannot start libuv")
        }
        pointer = loop
        self.waker = waker
    }

    /// Wakes the loop's thread. Any thread may call this function. Calls that come before the thread is awake use one
    /// system call together.
    func wake() { uv_async_send(waker) }

    deinit {
        uv_walk(
            pointer,
            { handle, _ in
                if let handle, uv_is_closing(handle) == 0 { LibuvLoop.close(handle) }
            }, nil)
        // Calls the call-backs of `uv_close`.
        uv_run(pointer, UV_RUN_NOWAIT)
        uv_loop_close(pointer)
        pointer.deallocate()
    }

    /// Closes the handle, and frees it when libuv does not use it any more.
    static func close(_ handle: UnsafeMutableRawPointer) {
        uv_close(handle.assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle)?.deallocate()
        }
    }
}
