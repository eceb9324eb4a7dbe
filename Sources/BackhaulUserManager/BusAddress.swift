internal import BackhaulPlatform
internal import Glibc

/// Where message buses listen (D-Bus specification, "Server Addresses").
enum BusAddress {
    /// The user's bus as sd_bus_open_user(3) finds it: the address in the environment, else the socket in the runtime
    /// directory. Nil where there is neither.
    static var user: String? { user(environment: variable) }

    static func user(environment: (String) -> String?) -> String? {
        if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return local(address) }
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return "unix:path=" + escaped(directory + "/bus")
    }

    /// Whether a user manager says that it is there: the socket that it listens on beside the bus.
    static var hasManagerSocket: Bool {
        variable("XDG_RUNTIME_DIR").map { access($0 + "/systemd/private", F_OK) == 0 } ?? false
    }

    /// The system's bus as sd_bus_open_system(3) finds it.
    static var system: String {
        variable("DBUS_SYSTEM_BUS_ADDRESS").flatMap(local) ?? "unix:path=/run/dbus/system_bus_socket"
    }

    /// The alternatives that are sockets of this machine. The others would start a child of the host ("unixexec:",
    /// "x-machine-unix:") or wait for a name server ("tcp:").
    static func local(_ address: String) -> String? {
        let alternatives = address.split(separator: ";").filter { $0.hasPrefix("unix:") }
        return alternatives.isEmpty ? nil : alternatives.joined(separator: ";")
    }

    /// Bytes that a value may not hold as they are become %xx.
    static func escaped(_ value: String) -> String {
        var result = ""
        for byte in value.utf8 {
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-_/.\\*".contains(character) {
                result.append(character)
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return result
    }

    /// An empty one is none.
    private static func variable(_ name: String) -> String? {
        Environment.variable(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}
