internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Tells once when processes wait for a resource for a hundredth of ten seconds: from there on limits may be reached
/// (Documentation/accounting/psi.rst in Linux). Closing it lets the kernel forget it.
final class PressureTrigger: Sendable {
    private let descriptor: Descriptor
    /// Urgent (EPOLLPRI) when it has come to that.
    var number: Int32 { descriptor.number }

    /// Microseconds of waiting, and of how many. Without privilege the window has to be a multiple of two seconds, on
    /// kernels that allow it at all (6.4).
    private static let order = "some 100000 10000000"
    private static let processesFileSystem = 0x9fa0  // PROC_SUPER_MAGIC

    /// Nil where the kernel gives none. What only stands in for /proc is not written to.
    init?(_ resource: PressureResource, in tree: SystemTree) {
        let number = bhl_open(tree.full(resource.path), O_RDWR | O_NONBLOCK, 0)
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
        var system = statfs()
        guard fstatfs(number, &system) == 0, Int(system.f_type) == PressureTrigger.processesFileSystem else {
            return nil
        }
        // With its zero: the kernel overwrites the last byte.
        let text = Array(PressureTrigger.order.utf8) + [0]
        guard write(number, text, text.count) == text.count else { return nil }
    }
}
