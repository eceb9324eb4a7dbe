/// A method of an object on a bus.
public struct BusMethod: Equatable, Sendable {
    public var destination: String
    public var path: String
    public var interface: String
    public var member: String

    public init(destination: String, path: String, interface: String, member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }

    /// A method of the bus itself (D-Bus specification, "Message Bus Messages").
    public static func bus(_ member: String) -> BusMethod {
        BusMethod(
            destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: member)
    }

    /// A method that reads or changes an object's properties (D-Bus specification, "Standard Interfaces").
    public static func properties(_ member: String, of path: String, at destination: String) -> BusMethod {
        BusMethod(
            destination: destination, path: path, interface: "org.freedesktop.DBus.Properties", member: member)
    }
}
