public import CLinux

/// Replaces the function of the Swift runtime that computes a value once (the Makefile links it so). The runtime's lock
/// contains the number of its thread, and the runtime remembers that number. In a forked child it is a number of the
/// parent. Two threads of the child that compute the same value at the same time then wait for ever. This lock contains
/// no number.
///
/// Unsafe: `once` and `context` are only passed on.
@c(__wrap__ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_)
public func runOnce(
    _ once: UnsafeMutablePointer<bhl_once>, _ compute: @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ context: UnsafeMutableRawPointer?
) {
    bhl_run_once(once, compute, context)
}
