import BackhaulModel
import Glibc
import Testing

@testable import BackhaulUserManager

@Suite struct NoManagerTests {
    private func status(_ address: String) -> Status? {
        do {
            _ = try UserManager(address: address, callTimeoutMilliseconds: 300)
            return nil
        } catch {
            return error.status
        }
    }

    @Test("if the socket of a user manager's bus is missing or has no listener, the user manager is not found")
    func absent() {
        let scratch = Scratch()
        #expect(status("unix:path=\(scratch.path)/bus") == .notFound)
        do { _ = SilentSocket(path: scratch.path + "/bus", type: SOCK_STREAM) }
        #expect(status("unix:path=\(scratch.path)/bus") == .notFound)
        #expect(status("") == .notFound)
        #expect(status("unix:path=" + String(repeating: "x", count: 300)) == .notFound)
    }

    @Test("a bus that never replies causes a time-out, and the connection's descriptor is closed")
    func hanging() {
        let scratch = Scratch()
        let silent = SilentSocket(path: scratch.path + "/bus", type: SOCK_STREAM)
        #expect(status("unix:path=\(scratch.path)/bus") == .timeout)
        #expect(silent.receiveAll()?.contains("AUTH EXTERNAL") == true)
    }
}
