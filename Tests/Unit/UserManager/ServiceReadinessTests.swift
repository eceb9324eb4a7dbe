import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulUserManager

/// A service notifies its manager, such as systemd, that it is ready (sd_notify(3)).
@Suite struct ServiceReadinessTests {
    @Test("a service manager is notified that the service is ready")
    func ready() {
        let scratch = Scratch()
        let manager = SilentSocket(path: scratch.path + "/notify", type: SOCK_DGRAM)
        #expect(ServiceReadiness.notifyReady(to: scratch.path + "/notify"))
        #expect(manager.receive() == "READY=1")
    }

    @Test("a service manager with an abstract socket is notified that the service is ready")
    func abstractName() {
        let name = "backhaul-test-\(getpid())"
        let manager = SilentSocket(path: "\0" + name, type: SOCK_DGRAM)
        #expect(ServiceReadiness.notifyReady(to: "@" + name))
        #expect(manager.receive() == "READY=1")
    }

    @Test("the notification of readiness waits until a busy manager has space in its queue")
    func busyManager() throws {
        let scratch = Scratch()
        let path = scratch.path + "/notify"
        let manager = SilentSocket(path: path, type: SOCK_DGRAM)
        let journal = Journal(socketPath: path)
        while journal.send("noise", priority: .debug) {}
        let hasFailed = Lock(false)
        // A thread of its own, because other tests may occupy all threads on which Swift runs tasks.
        let reader = try Thread(name: "reader") {
            while !hasFailed.withLock({ $0 }), manager.receive() != "READY=1" {}
        }
        let isSent = ServiceReadiness.notifyReady(to: path)
        hasFailed.withLock { $0 = !isSent }
        reader.join()
        #expect(isSent)
    }

    @Test("the notification of readiness returns false if there is no service manager")
    func noManager() {
        let scratch = Scratch()
        #expect(!ServiceReadiness.notifyReady(to: nil))
        #expect(!ServiceReadiness.notifyReady(to: ""))
        #expect(!ServiceReadiness.notifyReady(to: scratch.path + "/notify"))
    }
}
