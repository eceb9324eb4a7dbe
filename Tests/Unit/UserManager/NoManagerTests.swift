import BackhaulModel
import Glibc
import Testing

@testable import BackhaulUserManager

@Suite struct NoManagerTests {
    private func status(_ address: String) -> Status? {
        do {
            _ = try UserManager(address: address, patienceMilliseconds: 300)
            return nil
        } catch {
            return error.status
        }
    }

    @Test("a bus that is not there, and a socket that nobody listens on, are no user manager")
    func absent() {
        let scratch = Scratch()
        #expect(status("unix:path=\(scratch.path)/bus") == .notFound)
        do { _ = SilentSocket(path: scratch.path + "/bus", type: SOCK_STREAM) }
        #expect(status("unix:path=\(scratch.path)/bus") == .notFound)
        #expect(status("") == .notFound)
        #expect(status("unix:path=" + String(repeating: "x", count: 300)) == .notFound)
    }

    @Test("a bus that accepts and never answers costs the patience and leaves no descriptor")
    func hanging() {
        let scratch = Scratch()
        let silent = SilentSocket(path: scratch.path + "/bus", type: SOCK_STREAM)
        #expect(status("unix:path=\(scratch.path)/bus") == .timeout)
        #expect(silent.hearOut()?.contains("AUTH EXTERNAL") == true)
    }
}
