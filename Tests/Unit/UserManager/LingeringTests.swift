import Testing

@testable import BackhaulUserManager

@Suite struct LingeringTests {
    @Test("lingering is on if logind has a file with the user's name; without systemd, the value is `absent`")
    func noted() {
        let scratch = Scratch()
        let of = {
            Lingering.of(
                userName: $0, stateDirectory: scratch.path + "/lib", runtimeDirectory: scratch.path + "/run")
        }
        #expect(of("me") == .absent)
        scratch.write("", to: "run/systemd/system/x")
        #expect(of("me") == .off)
        scratch.write("", to: "lib/linger/me")
        #expect(of("me") == .on)
        #expect(of("you") == .off)
        #expect(of("../linger/me") == .off)
        #expect(of(nil) == .off)
    }
}
