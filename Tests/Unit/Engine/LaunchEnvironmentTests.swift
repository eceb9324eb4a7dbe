import BackhaulModel
import Testing

@testable import BackhaulEngine

@Suite("The environment of a launched host")
struct LaunchEnvironmentTests {
    private let token = LaunchToken(id: LaunchID(rawValue: 7), secret: 0xABC)

    private func make(
        _ entries: [String], additions: [String] = [], daemon: String? = nil, home: String? = nil
    ) -> [String: String] {
        LaunchEnvironment.make(
            of: entries, additions: additions, application: "org.example", token: token, store: "/store",
            daemon: daemon, home: home)
    }

    @Test("a launched host gets only those environment variables of the engine that concern the user, locale and paths")
    func passes() {
        let own = [
            "HOME=/home/ann", "USER=ann", "LC_TIME=C", "XDG_RUNTIME_DIR=/run/user/7", "PATH=/bin", "TMPDIR=",
            "SECRET=1", "LD_PRELOAD=x.so", "BACKHAUL_CRASH_AT=afterEnd", "http_proxy=http://p", "broken", "=x", "LC=x",
        ]
        #expect(
            make(own) == [
                "HOME": "/home/ann", "USER": "ann", "LC_TIME": "C", "XDG_RUNTIME_DIR": "/run/user/7", "PATH": "/bin",
                "TMPDIR": "", "BACKHAUL_STORE": "/store", "BACKHAUL_LAUNCH": "7-abc",
                "BACKHAUL_APPLICATION": "org.example",
            ])
    }

    @Test("if the engine has no PATH and no HOME, a launched host gets a default PATH and the user database's HOME")
    func missing() {
        let made = make([], daemon: "/usr/libexec/backhaul/backhauld", home: "/home/ann")
        #expect(made["PATH"] == "/usr/local/bin:/usr/bin:/bin")
        #expect(made["HOME"] == "/home/ann")
        #expect(made["BACKHAUL_DAEMON"] == "/usr/libexec/backhaul/backhauld")
    }

    @Test("the variables of a launch command override all other variables except the launch token")
    func additions() {
        let made = make(
            ["PATH=/bin"], additions: ["PATH=/opt/bin", "A=x=y", "BACKHAUL_STORE=/other", "BACKHAUL_LAUNCH=1-1"])
        #expect(made["PATH"] == "/opt/bin")
        #expect(made["A"] == "x=y")
        #expect(made["BACKHAUL_STORE"] == "/other")
        #expect(made["BACKHAUL_LAUNCH"] == "7-abc")
    }

    @Test("the text of a launch token can be parsed, and other texts are refused")
    func tokens() {
        #expect(LaunchToken(token.text) == token)
        for text in ["", "7", "7-", "-abc", "7-abc-", "7-xyz", "x-abc", "7-10000000000000000"] {
            #expect(LaunchToken(text) == nil, "\(text)")
        }
    }
}
