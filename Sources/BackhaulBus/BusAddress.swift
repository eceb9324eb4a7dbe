internal import BackhaulPlatform
internal import Glibc

/// The addresses of message buses (D-Bus specification, "Server Addresses").
public enum BusAddress {
    /// The address of the user's bus, from the environment. If the environment has no address, this property is the
    /// address of the socket in the runtime directory. Nil if there is no runtime directory either, or if the address
    /// in the environment has no Unix socket. sd_bus_open_user(3) finds the address in the same way.
    public static var user: String? { user(environment: variable) }

    static func user(environment: (String) -> String?) -> String? {
        if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return local(address) }
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return "unix:path=" + escaped(directory + "/bus")
    }

    /// Whether the runtime directory has the private socket of a user manager, which is the systemd process that runs a
    /// user's services. If so, a user manager probably runs.
    public static var hasManagerSocket: Bool {
        variable("XDG_RUNTIME_DIR").map { access($0 + "/systemd/private", F_OK) == 0 } ?? false
    }

    /// The address of the system's bus. sd_bus_open_system(3) finds this address in the same way.
    public static var system: String {
        variable("DBUS_SYSTEM_BUS_ADDRESS").flatMap(local) ?? "unix:path=/run/dbus/system_bus_socket"
    }

    /// An address may list several alternatives. Returns the Unix sockets among them. Other alternatives would start a
    /// child process ("unixexec:", "x-machine-unix:") or wait for a name server ("tcp:").
    public static func local(_ address: String) -> String? {
        let alternatives = address.split(separator: ";").filter { $0.hasPrefix("unix:") }
        return alternatives.isEmpty ? nil : alternatives.joined(separator: ";")
    }

    /// The path of the socket; nil if the address has several alternatives, or no path.
    public static func path(of address: String) -> String? {
        guard !address.contains(";"), let place = local(address) else { return nil }
        let value = place.dropFirst("unix:".count).split(separator: ",").first { $0.hasPrefix("path=/") }
        return value.flatMap { unescaped($0.dropFirst("path=".count)) }
    }

    /// Decodes %xx; nil if an escape is invalid.
    private static func unescaped(_ value: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = value.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            // The initializer would accept a sign ("+a", "-0").
            guard rest.count >= 2, rest.prefix(2).allSatisfy({ isxdigit(Int32($0)) != 0 }),
                let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Replaces each byte that an address must not contain with %xx.
    public static func escaped(_ value: String) -> String {
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

    /// The value of an environment variable. An empty value counts as missing.
    private static func variable(_ name: String) -> String? {
        Environment.variable(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}
