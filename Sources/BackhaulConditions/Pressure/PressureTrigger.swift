internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// A trigger of the kernel that fires when processes wait for a resource for 1 % of ten seconds
/// (Documentation/accounting/psi.rst in Linux). When the trigger fires, the pressure may exceed the limit of a task.
/// The kernel removes the trigger when the descriptor is closed.
final class PressureTrigger: Sendable {
    private let descriptor: Descriptor
    /// The descriptor to watch. When the trigger fires, epoll reports EPOLLPRI for this descriptor.
    var number: Int32 { descriptor.number }

    /// The text that defines the trigger: the microseconds of waiting, and the length of the window in microseconds. A
    /// process without privileges needs Linux 6.4 or later, and its window must be a multiple of two seconds.
    private static let triggerLine = "some 100000 10000000"
    private static let processesFileSystem = 0x9fa0  // PROC_SUPER_MAGIC

    /// Returns nil if the kernel allows no trigger. Also returns nil, and writes nothing, if `tree` has another
    /// directory in place of the kernel's /proc, as in tests.
    init?(_ resource: PressureResource, in tree: SystemTree) {
        let number = bhl_open(tree.full(resource.path), O_RDWR | O_NONBLOCK, 0)
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
        var system = statfs()
        guard fstatfs(number, &system) == 0, Int(system.f_type) == PressureTrigger.processesFileSystem else {
            return nil
        }
        // The text is written with a zero byte at its end, because the kernel overwrites the last byte.
        let text = Array(PressureTrigger.triggerLine.utf8) + [0]
        guard write(number, text, text.count) == text.count else { return nil }
    }
}
