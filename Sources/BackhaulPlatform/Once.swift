public import CLinux

/// Replaces the function of the Swift runtime that computes a value only one time (by an option of the linker in the
/// Makefile). The runtime's lock contains the number of the thread that owns it, and each thread remembers its own
/// number. In a forked child, the remembered number is still a number of the parent. So if two threads of the child
/// compute the same value at the same time, they wait for ever. The lock of this function contains no number.
///
/// Unsafe: `once` and `context` are only passed to another function.
@c(__wrap__ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_)
public func runOnce(
    _ once: UnsafeMutablePointer<bhl_once>, _ compute: @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ context: UnsafeMutableRawPointer?
) {
    bhl_run_once(once, compute, context)
}
