/// An entry of /sys/class/power_supply with plausible values (Documentation/ABI/testing/sysfs-class-power in Linux).
struct PowerSupply: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case battery
        /// A UPS. Its battery is outside of the machine.
        case uninterruptible
        case mains
        /// A port or a coil that can supply the machine. A machine has several of them; most are unused.
        case port
    }

    var name: String
    var kind: Kind
    /// Whether mains or a port delivers power; nil if this is unknown.
    var isOnline: Bool?
    /// Whether a battery or UPS is discharging; nil if this is unknown.
    var isDischarging: Bool?
    var percent: UInt8?
    /// The full capacity in microwatt hours.
    var fullEnergy: Double?
    /// The full capacity in microampere hours.
    var fullCharge: Double?

    /// Returns nil for an entry that does not supply the machine: batteries of mice and pens, empty bays, unknown
    /// types.
    init?(name: String, attribute: (String) -> String?) {
        guard attribute("scope") != "Device", attribute("present") != "0" else { return nil }
        switch attribute("type") {
        case "Battery": kind = .battery
        case "UPS": kind = .uninterruptible
        case "Mains": kind = .mains
        // Older kernels name the device at the port: USB_DCP, USB_C, USB_PD.
        case .some(let type) where type.hasPrefix("USB") || type == "Wireless" || type == "BrickID": kind = .port
        default: return nil
        }
        self.name = name
        switch attribute("online") {
        case "0": isOnline = false
        // 2 means online with a programmable voltage.
        case "1", "2": isOnline = true
        default: isOnline = nil
        }
        switch attribute("status") {
        case "Discharging": isDischarging = true
        case "Charging", "Full", "Not charging": isDischarging = false
        default: isDischarging = nil
        }
        fullEnergy = PowerSupply.amount(attribute("energy_full"))
        fullCharge = PowerSupply.amount(attribute("charge_full"))
        percent =
            PowerSupply.capacity(attribute("capacity"))
            ?? PowerSupply.percentage(PowerSupply.number(attribute("energy_now")), of: fullEnergy)
            ?? PowerSupply.percentage(PowerSupply.number(attribute("charge_now")), of: fullCharge)
    }

    /// Numbers in sysfs are integers. No plausible number here has more than fifteen digits.
    private static func number(_ text: String?) -> Double? {
        guard let text, text.utf8.count <= 16, let number = Int64(text) else { return nil }
        return Double(number)
    }

    private static func amount(_ text: String?) -> Double? {
        number(text).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Reads a charge in percent. Some gauges report a little more than 100.
    private static func capacity(_ text: String?) -> UInt8? {
        guard let number = number(text), (0...110).contains(number) else { return nil }
        return UInt8(min(number, 100))
    }

    private static func percentage(_ now: Double?, of full: Double?) -> UInt8? {
        guard let now, let full, now >= 0 else { return nil }
        return UInt8(min(now / full, 1) * 100)
    }
}
