import Backhaul
import Testing

@testable import backhaul

/// An *explanation* is the output of `backhaul why` for one transfer. A *launched program* is a program that the
/// library has started because a session needs the program.
@Suite("An explanation")
struct ExplanationTests {
    init() { #expect(isInBerlin) }

    @Test("an explanation says which transfer waits, why, until when, and what the user can do")
    func whole() {
        var facts = WaitFacts()
        facts.requirements.constraints.preset = .discretionary
        facts.conditions = [condition(.externalPower, 0, "on battery")]
        let explained = explanation(
            task(
                .power, text: "the machine is on battery, and the transfer waits for external power",
                latest: evening + 9 * hour),
            waits: [
                wait(.metered, from: evening - 26 * hour, to: evening - 24 * hour),
                wait(.power, from: evening - 6 * minute, to: nil),
            ], facts: facts)
        #expect(
            explained.lines == [
                "Download 12 (large.iso from example.org, 0 B of ?) waits for external power since 21:04 (6 min).",
                "  to:        /home/ann/large.iso",
                "  why:       the machine is on battery, and the transfer waits for external\n"
                    + "             power",
                "  continues: by itself, 10 seconds after the machine is plugged in",
                "  latest:    tomorrow at 06:10 (in 9 h): then presets no longer hold it",
                "",
                "What you can do:",
                "  - Plug the machine in.",
                "  - Session 'photos' asks for this (--preset discretionary). Let all its\n"
                    + "    transfers run on battery, too:",
                "      backhaul configure --external-power no --session photos",
                "",
                "Its waits so far:",
                "  19 Nov 19:10 - 21:10           2 h  waited for an unmetered network",
                "  20 Nov 21:04 - now           6 min  waits for external power",
                "",
            ])
    }

    @Test("each reason has an explanation that does not advise to cancel the transfer", arguments: allReasons)
    func every(reason: Reason) {
        let explained = explanation(task(reason, text: "a sentence of the engine"))
        let lines = explained.lines
        #expect(!reason.word.hasPrefix("unknown"))
        #expect(!lines[0].contains("does not know"))
        #expect(lines[0].hasPrefix("Download 12 (large.iso from example.org, 0 B of ?) "))
        #expect([" waits ", " is suspended until ", " is stuck, and waits "].contains { lines[0].contains($0) })
        #expect(lines.contains { $0.hasPrefix("  continues: ") })
        let start = lines.firstIndex(of: "What you can do:") ?? lines.count
        #expect(lines[start...].count > 1 || [Reason.budget, .quietHours].contains(reason))
        for line in lines[start...] where line.hasPrefix("      ") {
            #expect(line.hasPrefix("      backhaul "))
        }
        // The session has no constraint, so the explanation does not advise to change the session.
        #expect(!lines.contains { $0.contains(" configure ") })
        // An explanation never advises to cancel, because a cancel deletes the received bytes.
        #expect(!lines.contains { $0.contains(" cancel ") })
    }

    @Test(
        "an explanation advises the option that overrides the transfer's own constraint",
        arguments: [
            (Reason.power, "--external-power yes", "--external-power no"),
            (Reason.metered, "--unmetered yes", "--unmetered no"),
            (Reason.heat, "--maximum-heat nominal", "--maximum-heat serious"),
            (Reason.battery, "--minimum-battery 80", "--minimum-battery default"),
            (Reason.network, "--networks wifi", "--networks default"),
            (Reason.pressure, "--maximum-io-pressure 20", "--maximum-io-pressure default"),
            (Reason.throughput, "--minimum-rate 5000", "--minimum-rate default"),
            (Reason.quietHours, "--quiet-hours 08:00-18:00", "--quiet-hours default"),
        ])
    func ofTransfer(reason: Reason, given: String, change: String) {
        let lines = explanation(task(reason, next: evening + hour, stated: everything)).lines
        #expect(lines.contains("      backhaul constrain 12 \(change) --session photos"))
        #expect(sentence(lines).contains("It asks for this itself (\(given))"))
        #expect(lines.count { $0.hasPrefix("      backhaul ") } == 1)
    }

    @Test(
        "an explanation advises an option that overrides the transfer's preset",
        arguments: [
            (Reason.power, "--external-power no"), (Reason.metered, "--unmetered no"),
            (Reason.heat, "--maximum-heat serious"), (Reason.throughput, "--minimum-rate 1"),
            (Reason.quietHours, "--preset discretionary"),
        ])
    func ownPreset(reason: Reason, change: String) {
        var stated = Constraints()
        stated.preset = .overnight
        let lines = explanation(task(reason, next: evening + hour, stated: stated)).lines
        #expect(lines.contains("      backhaul constrain 12 \(change) --session photos"))
        #expect(sentence(lines).contains("It asks for this itself (--preset overnight)"))
    }

    @Test("if the session and the transfer have the same constraint, an explanation names both")
    func both() {
        var facts = WaitFacts()
        facts.requirements.constraints.requiresExternalPower = true
        let explained = explanation(task(.power, stated: everything), facts: facts)
        #expect(explained.lines.contains("      backhaul configure --external-power no --session photos"))
        #expect(explained.lines.contains("      backhaul constrain 12 --external-power no --session photos"))
        #expect(
            explained.json.text.contains(
                "session photos: --external-power yes; the transfer itself: --external-power yes"))
    }

    private var everything: Constraints {
        var stated = Constraints()
        stated.requiresExternalPower = true
        stated.requiresUnmetered = true
        stated.networks = .wifi
        stated.minimumBatteryPercent = 80
        stated.maximumThermalState = .nominal
        stated.maximumIOPressurePercent = 20
        stated.minimumBytesPerSecond = 5_000
        stated.quietHours = "08:00-18:00"
        return stated
    }

    @Test(
        "an explanation advises the option that overrides the session's preset",
        arguments: [
            (Reason.power, "--external-power no"), (Reason.metered, "--unmetered no"),
            (Reason.heat, "--maximum-heat serious"), (Reason.throughput, "--minimum-rate 1"),
            (Reason.quietHours, "--preset discretionary"),
        ])
    func preset(reason: Reason, options: String) {
        var facts = WaitFacts()
        facts.requirements.constraints.preset = .overnight
        let lines = explanation(task(reason), facts: facts).lines
        #expect(lines.contains("      backhaul configure \(options) --session photos"))
        #expect(sentence(lines).contains("Session 'photos' asks for this (--preset overnight)"))
    }

    @Test("an explanation shows a constraint of the session as an option of the command line")
    func options() {
        var facts = WaitFacts()
        facts.requirements.constraints.networks = [.wifi, .ethernet]
        facts.requirements.constraints.quietHours = "22:00-06:30"
        facts.requirements.constraints.minimumBatteryPercent = 40
        facts.requirements.constraints.maximumIOPressurePercent = 30
        let expected = [
            (Reason.network, "--networks ethernet,wifi", "--networks all"),
            (Reason.quietHours, "--quiet-hours 22:00-06:30", "--quiet-hours ''"),
            (Reason.battery, "--minimum-battery 40", "--minimum-battery 0"),
            (Reason.pressure, "--maximum-io-pressure 30", "--maximum-io-pressure 0"),
        ]
        for (reason, given, change) in expected {
            let lines = explanation(task(reason), facts: facts).lines
            #expect(sentence(lines).contains("Session 'photos' asks for this (\(given))"))
            #expect(lines.contains("      backhaul configure \(change) --session photos"))
        }
    }

    @Test("an explanation about pressure names the limit that is exceeded")
    func pressure() {
        var facts = WaitFacts()
        facts.requirements.constraints.maximumCPUPressurePercent = 20
        facts.requirements.constraints.maximumIOPressurePercent = 20
        facts.conditions = [
            condition(.cpuPressure, 80, "80 %"), condition(.ioPressure, 1, "1 %"),
        ]
        let lines = explanation(task(.pressure), facts: facts).lines
        #expect(sentence(lines).contains("asks for this (--maximum-cpu-pressure 20)"))
        #expect(lines.contains("      backhaul configure --maximum-cpu-pressure 0 --session photos"))
    }

    @Test("if a session's setting overrides the session's preset, an explanation advises to change only the transfer")
    func opposite() {
        var facts = WaitFacts()
        facts.requirements.constraints.preset = .discretionary
        facts.requirements.constraints.requiresExternalPower = false
        let lines = explanation(task(.power, stated: everything), facts: facts).lines
        #expect(lines.contains("      backhaul constrain 12 --external-power no --session photos"))
        #expect(!lines.contains { $0.contains(" configure ") })
    }

    @Test("if a launched program has added a transfer, an explanation advises how to remove the transfer's preset")
    func launched() {
        let lines = explanation(task(.power)).lines
        #expect(lines.contains("      backhaul constrain 12 --none --session photos"))
        #expect(sentence(lines).contains("by a program that was launched (--discretionary-if-launched)"))
    }

    @Test("if a session and its overnight preset have quiet hours, one advised command removes both quiet hours")
    func hiddenHours() {
        var facts = WaitFacts()
        facts.requirements.constraints.preset = .overnight
        facts.requirements.constraints.quietHours = "22:00-06:30"
        let lines = explanation(task(.quietHours), facts: facts).lines
        #expect(lines.contains("      backhaul configure --preset discretionary --quiet-hours '' --session photos"))
    }

    @Test("an explanation about a critically hot machine advises no option, because no option helps")
    func critical() {
        var facts = WaitFacts()
        facts.requirements.constraints.maximumThermalState = .fair
        facts.conditions = [condition(.thermalState, Int64(ThermalState.critical.rawValue), "critical")]
        let lines = explanation(task(.heat), facts: facts).lines
        #expect(lines.contains { $0.contains("It is critically hot: nothing is transferred now") })
        #expect(!lines.contains { $0.contains("configure") })
    }

    @Test("an explanation about a metered network names the command that marks the network as not metered")
    func metered() {
        var facts = WaitFacts()
        facts.conditions = [
            condition(.metered, 1, "metered"), condition(.network, 2, "wifi", name: "Café"),
        ]
        let lines = explanation(task(.metered), facts: facts).lines
        #expect(lines.contains("      backhaul networks Café --metered no --session photos"))
    }

    @Test("an explanation about a budget names the limit, and the network or session with this limit")
    func budgets() {
        var facts = WaitFacts()
        facts.networks = [network("Hotspot", monthly: 5_000_000_000)]
        var lines = explanation(task(.budget), facts: facts).lines
        #expect(sentence(lines).contains("the network Hotspot, for all sessions together, a larger limit (now 5.0 GB"))
        #expect(lines.contains("      backhaul networks Hotspot --monthly-budget 10GB --session photos"))
        #expect(!lines.contains { $0.contains(" configure ") })
        facts.networks = []
        facts.requirements.budget.daily = 0
        lines = explanation(task(.budget), facts: facts).lines
        #expect(lines[0].hasSuffix(" is stuck: the daily limit of session 'photos' is 0 B, so nothing may be moved."))
        #expect(lines.contains("  continues: not by itself: waiting does not help"))
        let example = lines.firstIndex(of: "      backhaul configure --daily-budget 1GB --session photos")
        let rest = lines.dropFirst(example ?? lines.count)
        #expect(rest.contains("      backhaul configure --daily-budget none --session photos"))
    }

    @Test("an explanation about a retry shows the failed attempt, the next attempt and the number of received bytes")
    func retry() {
        var facts = WaitFacts()
        facts.lastAttempts[TaskID(rawValue: 12)] = attempt(
            3, started: evening - 6 * minute, status: 503, error: "status 503")
        let waiting = task(.retry, next: evening + 90_000, error: "status 503", offset: 3_000_000)
        let lines = explanation(waiting, facts: facts).lines
        #expect(
            sentence(lines).contains(
                "why: attempt 3 failed at 21:04: status 503 (the server is overloaded or in maintenance)"))
        #expect(
            sentence(lines).contains(
                "continues: by itself at 21:11 (in 2 min), with attempt 4; the received part (3.0 MB) is kept"))
    }

    @Test("an explanation about a retry says that the bytes of the last attempt were lost, except for an error page")
    func lostBytes() {
        func text(_ status: Int32) -> String {
            var facts = WaitFacts()
            facts.lastAttempts[TaskID(rawValue: 12)] = attempt(
                3, started: evening, status: status, error: "broken", body: 2_000_000)
            return sentence(explanation(task(.retry, next: evening + 90_000, error: "broken"), facts: facts).lines)
        }
        #expect(text(200).contains("with attempt 4; the 2.0 MB of the last attempt could not be kept"))
        #expect(text(503).contains("with attempt 4; no byte is kept so far"))
    }

    @Test("an explanation about a challenge has the origin, the realm, and the commands to respond or to refuse")
    func login() {
        var facts = WaitFacts()
        facts.challenges = [challenge(7, origin: "http://example.org", schemes: .basic, realm: "Staff")]
        let lines = explanation(task(.credential), facts: facts).lines
        let text = sentence(lines)
        #expect(lines[0].hasSuffix(" waits for a login."))
        #expect(text.contains("http://example.org asks for a user name and a password (for what it calls \"Staff\")"))
        #expect(text.contains("then type the password (7 is the number of the server's challenge)"))
        #expect(lines.contains("      backhaul respond 7 --session photos --user NAME"))
        #expect(lines.contains("      backhaul respond 7 --refuse --session photos"))
        #expect(text.contains("http does not encrypt"))
        facts.challenges = [challenge(7, origin: "https://example.org", schemes: .basic, realm: nil)]
        #expect(!sentence(explanation(task(.credential), facts: facts).lines).contains("does not encrypt"))
    }

    @Test("an explanation about a silent server says when the next attempt starts, and from which offset")
    func stalled() {
        func stalledText(_ offset: UInt64) -> String {
            sentence(explanation(task(.stalled, state: .running, offset: offset)).lines)
        }
        #expect(stalledText(0).contains("after 60 seconds of silence (or --request-timeout) it is retried, from its "))
        #expect(stalledText(5).contains("from where it is if the server can do that"))
    }

    @Test("if a transfer waits for its earliest start, an explanation shows the command that starts the transfer now")
    func earliestStart() {
        let lines = explanation(task(.earliestStart, next: evening + hour)).lines
        #expect(lines.contains("      backhaul reschedule 12 --earliest-start now --session photos"))
    }

    @Test("if only a changed setting can end a transfer's wait, an explanation says that waiting does not help")
    func stuck() {
        for waiting in [task(.network, text: "so it never runs"), task(.quietHours)] {
            let lines = explanation(waiting).lines
            #expect(lines[0].contains(" is stuck, and waits for "))
            #expect(lines.contains("  continues: not by itself: waiting does not help"))
        }
    }

    /// Joins the lines into one text, with single spaces between the words.
    private func sentence(_ lines: [String]) -> String {
        lines.joined(separator: " ").split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }

    @Test("an explanation of a running, ended or starting transfer shows the transfer's state and its earlier waits")
    func others() {
        let waits = [wait(.power, from: evening - 10 * hour, to: evening - hour)]
        #expect(explanation(task(nil, state: .running)).lines[0].hasSuffix(" is moving."))
        #expect(explanation(task(nil)).lines[0].hasSuffix(" is about to start."))
        let ended = explanation(task(nil, state: .succeeded), waits: waits).lines
        #expect(ended[0].hasSuffix(" has succeeded at 20:10 and waits for nothing."))
        #expect(ended.contains("It has waited:"))
        #expect(ended.contains("  20 Nov 11:10 - 20:10           9 h  waited for external power"))
        #expect(!ended.contains("What you can do:"))
        #expect(
            explanation(task(.stalled, state: .running)).lines[0]
                .hasSuffix(" waits for a server that sends nothing any more."))
    }

    @Test("an explanation escapes control characters")
    func control() {
        let lines = explanation(task(.network, text: "the network \u{1b}[2Jevil is of kind wifi")).lines
        #expect(!lines.contains { $0.unicodeScalars.contains("\u{1b}") })
    }
}
