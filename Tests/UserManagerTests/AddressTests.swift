import Testing

@testable import BackhaulUserManager

@Suite struct AddressTests {
    private func user(_ environment: [String: String]) -> String? { BusAddress.user { environment[$0] } }

    @Test("the address in the environment comes before the runtime directory")
    func order() {
        let directory = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(user(directory) == "unix:path=/run/user/1000/bus")
        let both = directory.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/tmp/dbus-x,guid=1"]) { $1 }
        #expect(user(both) == "unix:abstract=/tmp/dbus-x,guid=1")
        #expect(user([:]) == nil)
        #expect(user(["XDG_RUNTIME_DIR": "relative"]) == nil)
    }

    @Test(
        "addresses that start a program or ask a name server are not used",
        arguments: ["unixexec:path=/bin/sh", "tcp:host=example.org,port=1", "autolaunch:", "nonsense", ";"])
    func foreign(_ address: String) {
        #expect(user(["DBUS_SESSION_BUS_ADDRESS": address]) == nil)
        #expect(user(["DBUS_SESSION_BUS_ADDRESS": address + ";unix:path=/x"]) == "unix:path=/x")
    }

    @Test("bytes that an address may not hold are escaped")
    func escaping() {
        #expect(user(["XDG_RUNTIME_DIR": "/a b,c;ü"]) == "unix:path=/a%20b%2cc%3b%c3%bc/bus")
    }
}
