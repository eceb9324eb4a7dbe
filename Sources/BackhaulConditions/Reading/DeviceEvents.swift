internal import BackhaulPlatform
internal import CLinux

/// Reads the kernel's uevents, which report that a device of the machine has changed.
final class DeviceEvents: Sendable {
    /// The kinds of devices on which conditions of the system, such as power and heat, depend.
    struct Subsystems: OptionSet, Sendable {
        var rawValue: UInt8
        static let powerSupply = Subsystems(rawValue: 1)
        static let thermal = Subsystems(rawValue: 2)
    }

    private let descriptor: Descriptor
    /// A descriptor that is readable when there are events to take.
    var number: Int32 { descriptor.number }
    /// False in a container to which the kernel sends no uevents. In such a container, only programs inside the
    /// container can send events.
    let isComplete: Bool

    init() throws(SystemError) {
        let number = bhl_watch_devices()
        guard number >= 0 else { throw SystemError.last("cannot watch the kernel's device events") }
        descriptor = Descriptor(owning: number)
        isComplete = bhl_receives_device_events() != 0
    }

    /// Reads the events, and returns the kinds of the devices that changed. Returns all kinds if the kernel dropped
    /// events.
    func take() -> Subsystems {
        // The buffer is larger than any event: UEVENT_BUFFER_SIZE is 2,048.
        var buffer = [CChar](repeating: 0, count: 16_384)
        var found: Subsystems = []
        // The number of events is bounded, so that a flood does not block the loop.
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

    /// Returns the kind of the device in an event. An event is `change@/devices/…` and then several `NAME=value`. Each
    /// of these texts ends with a zero byte.
    static func subsystem(of message: [UInt8]) -> Subsystems {
        let fields = message.split(separator: 0)
        if fields.contains(where: { $0.elementsEqual("SUBSYSTEM=power_supply".utf8) }) { return .powerSupply }
        if fields.contains(where: { $0.elementsEqual("SUBSYSTEM=thermal".utf8) }) { return .thermal }
        return []
    }
}
