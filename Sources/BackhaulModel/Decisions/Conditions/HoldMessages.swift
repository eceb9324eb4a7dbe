/// Writes the sentences of holds. A hold says why tasks may not run now. Each sentence describes the present state, and
/// the state that would end the hold.
struct HoldMessages {
    private let conditions: Conditions
    private let facts: DeferralFacts

    init(_ conditions: Conditions, _ facts: DeferralFacts) {
        self.conditions = conditions
        self.facts = facts
    }

    var excludedNetworks: Hold {
        Hold(
            .network,
            "its session and the task itself allow no kind of network in common, so the transfer never runs; let one "
                + "of them allow more networks")
    }

    /// `begin`, `end`: Unix milliseconds of the present quiet hours.
    func quietHours(from begin: Int64?, until end: Int64?) -> Hold {
        let offset = facts.localOffsetMilliseconds
        guard let end else {
            return Hold(
                .quietHours,
                "the quiet hours of its session and its own leave no hour of the week, so the transfer never runs; "
                    + "shorten one of them")
        }
        let until = LocalTime.text(end, from: facts.now, offset)
        // If quiet hours last longer than a day, they cannot be written as two times of the day.
        let hours = begin.flatMap { begin in
            end - begin <= LocalTime.day
                ? " \(LocalTime(begin, offset).clock)-\(LocalTime(end, offset).clock)" : nil
        }
        return Hold(
            .quietHours, "the transfer is in its quiet hours\(hours ?? ""), until \(until)", nextCheckMilliseconds: end)
    }

    var power: Hold {
        let sentence =
            settled(conditions.externalPower, "external power is back")
            ?? "the machine is on battery, and the transfer waits for external power"
        return Hold(.power, sentence, nextCheckMilliseconds: nextCheck(conditions.externalPower))
    }

    func battery(_ charge: UInt8, wanted: UInt8) -> Hold {
        if let sentence = settled(conditions.externalPower, "external power is back") {
            return Hold(.battery, sentence, nextCheckMilliseconds: nextCheck(conditions.externalPower))
        }
        return Hold(
            .battery,
            "the battery is at \(charge) %, and the transfer waits until that is \(wanted) %, or for external power")
    }

    func kind(_ network: Network, wanted: NetworkKinds) -> Hold {
        let missing = NetworkKinds.all.subtracting(wanted)
        let waits =
            missing.names.count < wanted.names.count
            ? "a network that is not \(QuantityFormatter.list(missing.names, "or"))"
            : QuantityFormatter.list(wanted.names, "or")
        let kind = QuantityFormatter.list(network.kind.names)
        return Hold(
            .network, "the transfer waits for \(waits); the route to the internet is now \(network.name) (\(kind))")
    }

    var metered: Hold {
        let name = conditions.network.value.map { "the network \($0.name)" } ?? "the network"
        let sentence =
            settled(conditions.isMetered, "\(name) is unmetered")
            ?? "\(name) is metered (data may cost money)\(meteredSource), and the transfer waits for an unmetered one"
        return Hold(.metered, sentence, nextCheckMilliseconds: nextCheck(conditions.isMetered))
    }

    var portal: Hold {
        Hold(
            .portal,
            "\(networkName) asks for a login\(source(conditions.connectivity)): open any page in a browser and log in, "
                + "then the transfer continues")
    }

    var limited: Hold {
        Hold(
            .portal,
            "\(networkName) does not lead to the internet\(source(conditions.connectivity)), and the transfer waits "
                + "until it does, or for another network")
    }

    func heat(_ state: ThermalState, maximum: ThermalState) -> Hold {
        let wanted = min(maximum, .serious)
        let goal = wanted == .nominal ? "it is nominal" : "the machine is no hotter than \(wanted.name)"
        let sensor = conditions.hottestSensor
        let degrees = sensor?.thresholdDegrees(wanted).map { " (\($0) degrees)" } ?? ""
        let heat = sensor.map { "\($0.name) is at \($0.degrees) degrees (\(state.name))" }
        let sentence =
            settled(conditions.thermalState, "the machine is cooler")
            ?? "\(heat ?? "the machine's heat is \(state.name)"), and the transfer waits until \(goal)\(degrees)"
        return Hold(.heat, sentence, nextCheckMilliseconds: nextCheck(conditions.thermalState))
    }

    /// `limit`: above this pressure, a task is held. `lower`: at this pressure or below, a held task continues.
    func pressure(
        _ reading: Reading<UInt8>, _ value: UInt8, limit: UInt8, lower: UInt8, of what: PressuredResource
    ) -> Hold {
        let sentence =
            settled(reading, "programs wait less for \(what.rawValue)")
            ?? "\(what.cause): some waited in \(value) % of the last 10 seconds (limit \(limit) %, the transfer "
            + "continues at \(lower) %)"
        return Hold(.pressure, sentence, nextCheckMilliseconds: nextCheck(reading))
    }

    /// The resource for which programs wait.
    enum PressuredResource: String {
        case processors = "the processors"
        case disks = "the disks"
        case memory = "memory"

        var cause: String {
            self == .memory ? "other programs need much memory" : "other programs keep \(rawValue) busy"
        }
    }

    var sleep: Hold { Hold(.sleep, "the machine is about to sleep; the transfer continues when the machine wakes") }

    private var networkName: String { conditions.network.value.map { "the network \($0.name)" } ?? "the network" }

    /// The source of the reading in parentheses, so that a user knows where to change the value.
    private func source(_ reading: Reading<some Equatable & Sendable>) -> String {
        reading.source.isEmpty ? "" : " (\(reading.source))"
    }

    private var meteredSource: String {
        switch conditions.isMetered.source {
        case "configured": ", as set with `backhaul networks`"
        case "NetworkManager": ", as NetworkManager says"
        case "NetworkManager, which guesses": ", as NetworkManager guesses"
        default: source(conditions.isMetered)
        }
    }

    /// The sentence for a condition that has become better, but has not been better for long enough; nil for any other
    /// condition.
    private func settled(_ reading: Reading<some Equatable & Sendable>, _ what: String) -> String? {
        reading.settling.map {
            let duration = QuantityFormatter.duration($0.durationMilliseconds)
            return "\(what), and the transfer waits until that has lasted \(duration)"
        }
    }

    private func nextCheck(_ reading: Reading<some Equatable & Sendable>) -> Int64? {
        guard let settling = reading.settling, let boot = facts.bootMilliseconds else { return nil }
        let (left, overflow) = settling.endsAt.subtractingReportingOverflow(boot)
        return overflow ? nil : facts.now.saturatingAdd(max(0, left))
    }
}

extension ThermalState {
    /// The state's name, as in include/backhaul.h.
    var name: String {
        switch self {
        case .nominal: "nominal"
        case .fair: "fair"
        case .serious: "serious"
        case .critical: "critical"
        }
    }
}

extension NetworkKinds {
    private static let namesOfKinds: [(NetworkKinds, String)] = [
        (.ethernet, "ethernet"), (.wifi, "Wi-Fi"), (.cellular, "cellular"), (.bluetooth, "Bluetooth"),
        (.tunnel, "a tunnel"), (.other, "of an unknown kind"),
    ]

    var names: [String] { Self.namesOfKinds.filter { contains($0.0) }.map(\.1) }
}
