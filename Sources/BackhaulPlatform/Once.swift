public import CLinux

/// Replaces the function of the Swift runtime that computes a value once (the Makefile links it so). The runtime's lock
/// contains the number of the thread that owns it, and each thread remembers its number. In a forked child, the
/// remembered number is one of the parent. So two threads of the child that compute the same value at the same time
/// wait for ever. The lock of this function contains no number.
///
/// Unsafe: `once` and `context` are only passed to another function.
@c(__wrap__ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_)
public func runOnce(
    _ once: UnsafeMutablePointer<bhl_once>, _ compute: @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ context: UnsafeMutableRawPointer?
) {
    bhl_run_once(once, compute, context)
}
