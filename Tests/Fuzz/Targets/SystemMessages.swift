import BackhaulModel
import Glibc

@testable import BackhaulBus
@testable import BackhaulConditions
@testable import BackhaulDisk

/// Messages of the kernel and of system services.
enum SystemMessages {
    @Sendable static func deviceEvent(_ bytes: [UInt8]) throws {
        let found = DeviceEvents.subsystem(of: bytes)
        let fields = FuzzInput(bytes).parts().map { String(decoding: $0, as: UTF8.self) }
        let isConcerned = !Set(fields).isDisjoint(with: [power, thermal])
        try requireEqual(!found.isEmpty, isConcerned, "whether a device is concerned")
        let link = NetworkLink.deviceType(String(decoding: bytes, as: UTF8.self))
        if let link { try require(!link.contains("\n"), "a type of device over two lines") }
    }

    private static let (power, thermal) = ("SUBSYSTEM=power_supply", "SUBSYSTEM=thermal")

    @Sendable static func mounts(_ bytes: [UInt8]) throws {
        try WrittenLists.mounts(bytes)
        let mounts = MountTable.parse(bytes)
        let lines = bytes.split(separator: 0x0A)
        try require(mounts.count <= lines.count, "more mounts than lines")
        let size = mounts.reduce(0) { $0 + $1.point.count }
        try require(size <= bytes.count, "paths of \(size) bytes from \(bytes.count) bytes")
        if let entry = MountTable.entry(36, in: bytes) { try require(!entry.type.isEmpty, "a mount without a type") }
    }

    /// Each byte chooses a reply or signal of NetworkManager or logind, or a value in it.
    @Sendable static func busReply(_ bytes: [UInt8]) throws {
        var (input, manager, logind) = (FuzzInput(bytes), NetworkManagerView(), LogindView())
        while !input.isEmpty {
            switch input.byte() % 8 {
            case 0:
                let presence = presence(&input)
                _ = manager.update(presence)
                _ = logind.update(presence)
            case 1: _ = manager.update(manager: reply(&input))
            case 2: manager.update(connection: path(&input), reply(&input))
            case 3: _ = manager.changed(at: path(&input))
            case 4: _ = logind.update(properties: reply(&input))
            case 5: _ = logind.prepare(input.byte() % 2 == 0, isDelayed: input.byte() % 2 == 0)
            case 6: logind.update(inhibit: reply(&input))
            default: _ = NetworkKinds(connectionType: input.text())
            }
            let readings = manager.readings
            try requireEqual(readings.isNetworkManaged, manager.presence.owner != nil, "whether a network is managed")
            if let network = readings.network.value {
                try require((1...255).contains(network.name.utf8.count), "a name of \(network.name.utf8.count) bytes")
                try require(readings.isNetworkManaged, "a network without a manager")
            }
            let sources = [
                readings.network.source, readings.isMetered.source, readings.connectivity.source,
                logind.reading.0.source,
            ]
            try require(!sources.contains(""), "a reading without its source")
        }
    }

    private static func presence(_ input: inout FuzzInput) -> BusPresence {
        input.choice([.pending, .absent(why: "it is gone"), .present(owner: ":1.1"), .present(owner: ":1.2")])
    }

    private static func path(_ input: inout FuzzInput) -> String {
        input.choice(["/", "/1", "/2", BusName.networkManager.path])
    }

    private static func reply(_ input: inout FuzzInput) -> BusReply {
        switch input.byte() % 6 {
        case 0: return .refused(name: input.text(), sentence: input.text())
        case 1: return .malformed
        case 2: return .timedOut
        case 3: return .owner(input.text())
        default:
            var properties: [String: BusValue] = [:]
            for _ in 0..<input.byte() % 6 { properties[input.choice(names)] = value(&input) }
            return .properties(properties)
        }
    }

    private static let names = [
        "Metered", "Connectivity", "PrimaryConnection", "PrimaryConnectionType", "Id", "Type", "PreparingForSleep",
    ]

    private static func value(_ input: inout FuzzInput) -> BusValue {
        switch input.byte() % 5 {
        case 0: .string(input.text())
        case 1: .path(path(&input))
        case 2: .bool(input.byte() % 2 == 0)
        case 3: .int32(Int32(truncatingIfNeeded: input.number()))
        default: .uint32(UInt32(input.byte()))
        }
    }

    @Sendable static func busAddress(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        try requireEqual(
            BusAddress.path(of: "unix:path=/" + BusAddress.escaped(text)), "/" + text, "the path, written and read")
        guard let local = BusAddress.local(text) else { return }
        try requireEqual(BusAddress.local(local), local, "the local addresses among the local addresses")
        try require(local.split(separator: ";").allSatisfy { $0.hasPrefix("unix:") }, "other addresses: \(local)")
        if let path = BusAddress.path(of: text) { try require(path.hasPrefix("/"), "the relative path \(path)") }
    }
}
