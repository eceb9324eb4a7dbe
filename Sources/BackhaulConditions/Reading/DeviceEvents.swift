internal import BackhaulPlatform
internal import CLinux

/// Tells when the kernel says that a device of the machine has changed (kobject uevents).
final class DeviceEvents: Sendable {
    /// Kinds of devices that matter here.
    struct Subsystems: OptionSet, Sendable {
        var rawValue: UInt8
        static let powerSupply = Subsystems(rawValue: 1)
        static let thermal = Subsystems(rawValue: 2)
    }

    private let descriptor: Descriptor
    /// Readable when there is something to take.
    var number: Int32 { descriptor.number }
    /// False in containers whose kernel does not tell them: then only those who stand in for it do.
    let isComplete: Bool

    init() throws(SystemError) {
        let number = bhl_watch_devices()
        guard number >= 0 else { throw SystemError.last("cannot be told of changed devices") }
        descriptor = Descriptor(owning: number)
        isComplete = bhl_hears_devices() != 0
    }

    /// Takes what was told, and says of whom. When there was more than could be kept: of all.
    func take() -> Subsystems {
        // Larger than any: UEVENT_BUFFER_SIZE is 2,048.
        var buffer = [CChar](repeating: 0, count: 16_384)
        var found: Subsystems = []
        // A flood of them is taken in turns.
        for _ in 0..<256 {
            let count = bhl_next_device_event(descriptor.number, &buffer, buffer.count)
            if count > 0 {
                let bytes = buffer[..<min(count, buffer.count)].map { UInt8(bitPattern: $0) }
                found.formUnion(DeviceEvents.subsystem(of: bytes))
            } else if count < 0, bhl_errno() == ENOBUFS {
                found = [.powerSupply, .thermal]
            } else if count < 0, bhl_errno() != EINTR {
                return found
            }
        }
        return found
    }

    /// Of `change@/devices/…`, and then `NAME=value`, each ended by a zero.
    static func subsystem(of message: [UInt8]) -> Subsystems {
        let fields = message.split(separator: 0)
        if fields.contains(where: { $0.elementsEqual("SUBSYSTEM=power_supply".utf8) }) { return .powerSupply }
        if fields.contains(where: { $0.elementsEqual("SUBSYSTEM=thermal".utf8) }) { return .thermal }
        return []
    }
}
