import BackhaulModel
import Testing

/// The library in a program connects to the engine, and compares its own version with the engine's version. The
/// *protocol* is the format of their messages.
@Suite struct VersionNegotiationTests {
    private let own = Versions(wire: 5, library: 0x00_03_00)

    private func action(
        library: UInt32, wire: UInt16, isDaemon: Bool = true, mayRequestExit: Bool = true
    ) -> VersionNegotiation.Action {
        let versions = Versions(wire: wire, library: library)
        return VersionNegotiation.action(
            own: own,
            engine: Welcome(
                versions: versions, isDaemon: isDaemon, process: 7), mayRequestExit: mayRequestExit)
    }

    @Test("an older daemon is requested to exit, even if its protocol is the same")
    func older() {
        #expect(action(library: 0x00_02_FF, wire: 5) == .requestExit)
        #expect(action(library: 0x00_02_FF, wire: 4) == .requestExit)
    }

    @Test("an engine with our protocol is used if it is not older, or is embedded, or cannot be requested to exit")
    func same() {
        #expect(action(library: 0x00_03_00, wire: 5) == .proceed)
        #expect(action(library: 0x01_00_00, wire: 5) == .proceed)
        #expect(action(library: 0x00_02_00, wire: 5, isDaemon: false) == .proceed)
        #expect(action(library: 0x00_02_00, wire: 5, mayRequestExit: false) == .proceed)
    }

    @Test(
        "an embedded engine with another protocol is refused; the message has the versions and a remedy",
        arguments: [(UInt32(0x01_00_00), "update this program"), (UInt32(0x00_02_00), "update the program that is")])
    func refused(library: UInt32, remedy: String) throws {
        guard case .refuse(let failure) = action(library: library, wire: 4, isDaemon: false) else {
            Issue.record("not refused")
            return
        }
        #expect(failure.status == .engineIncompatible && failure.detail == 7)
        #expect(failure.message.contains("0.3.0") && failure.message.contains("protocol 4"))
        #expect(failure.message.contains(remedy))
    }

    @Test("a daemon exits only on the request of a newer library")
    func mustExit() {
        let daemon = Welcome(versions: own, isDaemon: true, process: 7)
        #expect(VersionNegotiation.mustExit(daemon, requestedBy: Versions(wire: 0, library: 0x00_03_01)))
        #expect(!VersionNegotiation.mustExit(daemon, requestedBy: own))
        #expect(!VersionNegotiation.mustExit(daemon, requestedBy: Versions(wire: 9, library: 0x00_02_FF)))
    }
}

@Suite struct LogEntryTests {
    @Test("control and bidirectional characters do not reach the log")
    func control() {
        #expect(LogEntry(.error, "a\nb\u{1B}[31m\u{202E}c\u{2028}").message == "a?b?[31m?c?")
    }

    @Test("user names, passwords and queries of URLs do not reach the log")
    func secrets() {
        let entry = LogEntry(.notice, "GET https://me:secret@example.org/a/b?token=1#x failed, http://b.org/c is left")
        #expect(entry.message == "GET https://example.org/a/b?… failed, http://b.org/c is left")
    }

    @Test("the length of a log message is limited")
    func length() {
        #expect(LogEntry(.notice, String(repeating: "ä", count: 5_000)).message.utf8.count <= 1_010)
    }
}

@Suite struct IdleExitPolicyTests {
    @Test("a daemon does not exit while it has clients, tasks, launches or activities, or while it removes files")
    func each() {
        #expect(IdleExitPolicy.mayExit(.init()))
        let reasons: [(inout IdleExitPolicy.Facts) -> Void] = [
            { $0.connections = 1 }, { $0.runningTasks = 1 }, { $0.isCleaning = true }, { $0.tasksWait = true },
            { $0.launchesWait = true }, { $0.activitiesWait = true },
        ]
        for reason in reasons {
            var facts = IdleExitPolicy.Facts()
            reason(&facts)
            #expect(!IdleExitPolicy.mayExit(facts))
        }
    }
}
