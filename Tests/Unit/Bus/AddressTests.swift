import Testing

@testable import BackhaulBus

/// The address of a message bus (D-Bus) says how a program connects to the bus. The address may be in the environment.
@Suite struct AddressTests {
    private func user(_ environment: [String: String]) -> String? { BusAddress.user { environment[$0] } }

    @Test("the bus address in the environment has precedence over the socket in the runtime directory")
    func order() {
        let directory = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(user(directory) == "unix:path=/run/user/1000/bus")
        let both = directory.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/tmp/dbus-x,guid=1"]) { $1 }
        #expect(user(both) == "unix:abstract=/tmp/dbus-x,guid=1")
        #expect(user([:]) == nil)
        #expect(user(["XDG_RUNTIME_DIR": "relative"]) == nil)
    }

    @Test(
        "bus addresses that are invalid, or that require a child process or a name server, are skipped",
        arguments: ["unixexec:path=/bin/sh", "tcp:host=example.org,port=1", "autolaunch:", "nonsense", ";"])
    func foreign(_ address: String) {
        #expect(user(["DBUS_SESSION_BUS_ADDRESS": address]) == nil)
        #expect(user(["DBUS_SESSION_BUS_ADDRESS": address + ";unix:path=/x"]) == "unix:path=/x")
    }

    @Test(
        "a socket path is returned only for a bus address with exactly one absolute path",
        arguments: [
            ("unix:path=/run/dbus/system_bus_socket", "/run/dbus/system_bus_socket"),
            ("unix:guid=1,path=/a%20b%c3%bc", "/a bü"), ("unix:path=/a;unix:path=/b", nil),
            ("unix:abstract=/a", nil), ("unix:path=/a%", nil), ("unix:path=/a%zz", nil),
            ("unix:path=/a%+a", nil), ("unix:path=/a%-0", nil), ("unix:path=/%ff", nil), ("unix:path=a", nil),
            ("tcp:path=/a", nil), ("", nil),
        ] as [(String, String?)])
    func paths(address: String, path: String?) {
        #expect(BusAddress.path(of: address) == path)
    }

    @Test("bytes that are not allowed in a bus address are escaped")
    func escaping() {
        #expect(user(["XDG_RUNTIME_DIR": "/a b,c;ü"]) == "unix:path=/a%20b%2cc%3b%c3%bc/bus")
    }
}
