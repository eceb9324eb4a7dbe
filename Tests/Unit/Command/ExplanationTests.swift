import CBackhaul
import Testing

@testable import backhaul

/// An *explanation* is the output of `backhaul why` for one transfer. A *session* is a named collection of transfers. A
/// *constraint* is a demand of a session or a transfer on the system, such as external power. A *preset* is a
/// predefined set of constraints, such as *overnight*. In *quiet hours*, transfers wait. A *budget* limits the bytes
/// that may be moved in a day or month. A *challenge* is a server's demand for a password. A *launched program* is a
/// program that the library has started because a session needs the program.
@Suite("An explanation")
struct ExplanationTests {
    init() { #expect(isInBerlin) }

    @Test("an explanation says which transfer waits, why, until when, and what the user can do")
    func whole() {
        var facts = WaitFacts()
        facts.requirements.preset = Int32(BH_PRESET_DISCRETIONARY)
        facts.conditions = [condition(BH_CONDITION_EXTERNAL_POWER, 0, "on battery")]
        let explained = explanation(
            task(
                BH_REASON_POWER, text: "the machine is on battery, and the transfer waits for external power",
                latest: evening + 9 * hour),
            waits: [
                wait(BH_REASON_METERED, from: evening - 26 * hour, to: evening - 24 * hour),
                wait(BH_REASON_POWER, from: evening - 6 * minute, to: nil),
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
    func every(reason: Int) {
        let explained = explanation(task(reason, text: "a sentence of the engine"))
        let lines = explained.lines
        #expect(!Names.reason(Int32(reason)).hasPrefix("unknown"))
        #expect(!lines[0].contains("does not know"))
        #expect(lines[0].hasPrefix("Download 12 (large.iso from example.org, 0 B of ?) "))
        #expect([" waits ", " is suspended until ", " is stuck, and waits "].contains { lines[0].contains($0) })
        #expect(lines.contains { $0.hasPrefix("  continues: ") })
        let start = lines.firstIndex(of: "What you can do:") ?? lines.count
        #expect(lines[start...].count > 1 || [BH_REASON_BUDGET, BH_REASON_QUIET_HOURS].contains(reason))
        for line in lines[start...] where line.hasPrefix("      ") {
            #expect(line.hasPrefix("      backhaul "))
        }
        // The session has no constraint, so the explanation does not advise to change the session.
        #expect(!lines.contains { $0.contains(" configure ") })
        // An explanation never advises to cancel, because a cancel deletes the received bytes.
        #expect(!lines.contains { $0.contains(" cancel ") })
    }

    @Test("an explanation advises the option that overrides the transfer's own constraint", arguments: [
        (BH_REASON_POWER, "--external-power yes", "--external-power no"),
        (BH_REASON_METERED, "--unmetered yes", "--unmetered no"),
        (BH_REASON_HEAT, "--maximum-heat nominal", "--maximum-heat serious"),
        (BH_REASON_BATTERY, "--minimum-battery 80", "--minimum-battery default"),
        (BH_REASON_NETWORK, "--networks wifi", "--networks default"),
        (BH_REASON_PRESSURE, "--maximum-io-pressure 20", "--maximum-io-pressure default"),
        (BH_REASON_THROUGHPUT, "--minimum-rate 5000", "--minimum-rate default"),
        (BH_REASON_QUIET_HOURS, "--quiet-hours 08:00-18:00", "--quiet-hours default"),
    ])
    func ofTransfer(reason: Int, given: String, change: String) {
        let lines = explanation(task(reason, next: evening + hour, stated: everything)).lines
        #expect(lines.contains("      backhaul constrain 12 \(change) --session photos"))
        #expect(sentence(lines).contains("It asks for this itself (\(given))"))
        #expect(lines.count { $0.hasPrefix("      backhaul ") } == 1)
    }

    @Test("an explanation advises an option that overrides the transfer's preset", arguments: [
        (BH_REASON_POWER, "--external-power no"), (BH_REASON_METERED, "--unmetered no"),
        (BH_REASON_HEAT, "--maximum-heat serious"), (BH_REASON_THROUGHPUT, "--minimum-rate 1"),
        (BH_REASON_QUIET_HOURS, "--preset discretionary"),
    ])
    func ownPreset(reason: Int, change: String) {
        var stated = ConstraintsRecord()
        stated.preset = Int32(BH_PRESET_OVERNIGHT)
        let lines = explanation(task(reason, next: evening + hour, stated: stated)).lines
        #expect(lines.contains("      backhaul constrain 12 \(change) --session photos"))
        #expect(sentence(lines).contains("It asks for this itself (--preset overnight)"))
    }

    @Test("if the session and the transfer have the same constraint, an explanation names both")
    func both() {
        var facts = WaitFacts()
        facts.requirements.externalPower = Int32(BH_YES)
        let explained = explanation(task(BH_REASON_POWER, stated: everything), facts: facts)
        #expect(explained.lines.contains("      backhaul configure --external-power no --session photos"))
        #expect(explained.lines.contains("      backhaul constrain 12 --external-power no --session photos"))
        #expect(
            explained.json.text.contains(
                "session photos: --external-power yes; the transfer itself: --external-power yes"))
    }

    private var everything: ConstraintsRecord {
        var stated = ConstraintsRecord()
        stated.externalPower = Int32(BH_YES)
        stated.unmetered = Int32(BH_YES)
        stated.networks = UInt32(BH_NETWORK_WIFI)
        stated.minimumBattery = 80
        stated.maximumHeat = Int32(BH_THERMAL_NOMINAL)
        stated.ioPressure = 20
        stated.minimumRate = 5_000
        stated.quietHours = "08:00-18:00"
        return stated
    }

    @Test("an explanation advises the option that overrides the session's preset", arguments: [
        (BH_REASON_POWER, "--external-power no"), (BH_REASON_METERED, "--unmetered no"),
        (BH_REASON_HEAT, "--maximum-heat serious"), (BH_REASON_THROUGHPUT, "--minimum-rate 1"),
        (BH_REASON_QUIET_HOURS, "--preset discretionary"),
    ])
    func preset(reason: Int, options: String) {
        var facts = WaitFacts()
        facts.requirements.preset = Int32(BH_PRESET_OVERNIGHT)
        let lines = explanation(task(reason), facts: facts).lines
        #expect(lines.contains("      backhaul configure \(options) --session photos"))
        #expect(sentence(lines).contains("Session 'photos' asks for this (--preset overnight)"))
    }

    @Test("an explanation shows a constraint of the session as an option of the command line")
    func options() {
        var facts = WaitFacts()
        facts.requirements.networks = UInt32(BH_NETWORK_WIFI | BH_NETWORK_ETHERNET)
        facts.requirements.quietHours = "22:00-06:30"
        facts.requirements.minimumBattery = 40
        facts.requirements.ioPressure = 30
        let expected = [
            (BH_REASON_NETWORK, "--networks ethernet,wifi", "--networks all"),
            (BH_REASON_QUIET_HOURS, "--quiet-hours 22:00-06:30", "--quiet-hours ''"),
            (BH_REASON_BATTERY, "--minimum-battery 40", "--minimum-battery 0"),
            (BH_REASON_PRESSURE, "--maximum-io-pressure 30", "--maximum-io-pressure 0"),
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
        facts.requirements.cpuPressure = 20
        facts.requirements.ioPressure = 20
        facts.conditions = [
            condition(BH_CONDITION_CPU_PRESSURE, 80, "80 %"), condition(BH_CONDITION_IO_PRESSURE, 1, "1 %"),
        ]
        let lines = explanation(task(BH_REASON_PRESSURE), facts: facts).lines
        #expect(sentence(lines).contains("asks for this (--maximum-cpu-pressure 20)"))
        #expect(lines.contains("      backhaul configure --maximum-cpu-pressure 0 --session photos"))
    }

    @Test("if a session's setting overrides the session's preset, an explanation advises to change only the transfer")
    func opposite() {
        var facts = WaitFacts()
        facts.requirements.preset = Int32(BH_PRESET_DISCRETIONARY)
        facts.requirements.externalPower = Int32(BH_NO)
        let lines = explanation(task(BH_REASON_POWER, stated: everything), facts: facts).lines
        #expect(lines.contains("      backhaul constrain 12 --external-power no --session photos"))
        #expect(!lines.contains { $0.contains(" configure ") })
    }

    @Test("if a launched program has added a transfer, an explanation advises how to remove the transfer's preset")
    func launched() {
        let lines = explanation(task(BH_REASON_POWER)).lines
        #expect(lines.contains("      backhaul constrain 12 --none --session photos"))
        #expect(sentence(lines).contains("by a program that was launched (--discretionary-if-launched)"))
    }

    @Test("if a session and its overnight preset have quiet hours, one advised command removes both quiet hours")
    func hiddenHours() {
        var facts = WaitFacts()
        facts.requirements.preset = Int32(BH_PRESET_OVERNIGHT)
        facts.requirements.quietHours = "22:00-06:30"
        let lines = explanation(task(BH_REASON_QUIET_HOURS), facts: facts).lines
        #expect(lines.contains("      backhaul configure --preset discretionary --quiet-hours '' --session photos"))
    }

    @Test("an explanation about a critically hot machine advises no option, because no option helps")
    func critical() {
        var facts = WaitFacts()
        facts.requirements.maximumHeat = Int32(BH_THERMAL_FAIR)
        facts.conditions = [condition(BH_CONDITION_THERMAL_STATE, Int64(BH_THERMAL_CRITICAL), "critical")]
        let lines = explanation(task(BH_REASON_HEAT), facts: facts).lines
        #expect(lines.contains { $0.contains("It is critically hot: nothing is transferred now") })
        #expect(!lines.contains { $0.contains("configure") })
    }

    @Test("an explanation about a metered network names the command that marks the network as not metered")
    func metered() {
        var facts = WaitFacts()
        facts.conditions = [
            condition(BH_CONDITION_METERED, 1, "metered"), condition(BH_CONDITION_NETWORK, 2, "wifi", name: "Café"),
        ]
        let lines = explanation(task(BH_REASON_METERED), facts: facts).lines
        #expect(lines.contains("      backhaul networks Café --metered no --session photos"))
    }

    @Test("an explanation about a budget names the limit, and the network or session with this limit")
    func budgets() {
        var facts = WaitFacts()
        var network = NetworkRecord(name: "Hotspot")
        network.isCurrent = true
        network.monthly = Budget(5_000_000_000)
        network.usedThisMonth = 5_000_000_000
        facts.networks = [network]
        var lines = explanation(task(BH_REASON_BUDGET), facts: facts).lines
        #expect(sentence(lines).contains("the network Hotspot, for all sessions together, a larger limit (now 5.0 GB"))
        #expect(lines.contains("      backhaul networks Hotspot --monthly-budget 10GB --session photos"))
        #expect(!lines.contains { $0.contains(" configure ") })
        facts.networks = []
        facts.requirements.daily = Budget(UInt64.max)
        lines = explanation(task(BH_REASON_BUDGET), facts: facts).lines
        #expect(lines[0].hasSuffix(" is stuck: the daily limit of session 'photos' is 0 B, so nothing may be moved."))
        #expect(lines.contains("  continues: not by itself: waiting does not help"))
        let example = lines.firstIndex(of: "      backhaul configure --daily-budget 1GB --session photos")
        let rest = lines.dropFirst(example ?? lines.count)
        #expect(rest.contains("      backhaul configure --daily-budget none --session photos"))
    }

    @Test("an explanation about a retry shows the failed attempt, the next attempt and the number of received bytes")
    func retry() {
        var facts = WaitFacts()
        facts.lastAttempts[12] = attempt(3, started: evening - 6 * minute, status: 503, error: "status 503")
        let waiting = task(BH_REASON_RETRY, next: evening + 90_000, error: "status 503", offset: 3_000_000)
        let lines = explanation(waiting, facts: facts).lines
        #expect(
            sentence(lines).contains(
                "why: attempt 3 failed at 21:04: status 503 (the server is overloaded or in maintenance)"))
        #expect(
            sentence(lines).contains(
                "continues: by itself at 21:11 (in 2 min), with attempt 4; the received part (3.0 MB) is kept"))
    }

    @Test("an explanation about a challenge has the origin, the realm, and the commands to respond or to refuse")
    func login() {
        var facts = WaitFacts()
        facts.challenges = [challenge(7, origin: "http://example.org", schemes: BH_SCHEME_BASIC, realm: "Staff")]
        let lines = explanation(task(BH_REASON_CREDENTIAL), facts: facts).lines
        let text = sentence(lines)
        #expect(lines[0].hasSuffix(" waits for a login."))
        #expect(text.contains("http://example.org asks for a user name and a password (for what it calls \"Staff\")"))
        #expect(text.contains("then type the password (7 is the number of the server's challenge)"))
        #expect(lines.contains("      backhaul respond 7 --session photos --user NAME"))
        #expect(lines.contains("      backhaul respond 7 --refuse --session photos"))
        #expect(text.contains("http does not encrypt"))
        facts.challenges = [challenge(7, origin: "https://example.org", schemes: BH_SCHEME_BASIC, realm: nil)]
        #expect(!sentence(explanation(task(BH_REASON_CREDENTIAL), facts: facts).lines).contains("does not encrypt"))
    }

    @Test("an explanation about a silent server says when the next attempt starts, and from which offset")
    func stalled() {
        func stalledText(_ offset: UInt64) -> String {
            sentence(explanation(task(BH_REASON_STALLED, state: BH_TASK_RUNNING, offset: offset)).lines)
        }
        #expect(stalledText(0).contains("after 60 seconds of silence (or --request-timeout) it is retried, from its "))
        #expect(stalledText(5).contains("from where it is if the server can do that"))
    }

    @Test("if a transfer waits for its earliest start, an explanation shows the command that starts the transfer now")
    func earliestStart() {
        let lines = explanation(task(BH_REASON_EARLIEST_START, next: evening + hour)).lines
        #expect(lines.contains("      backhaul reschedule 12 --earliest-start now --session photos"))
    }

    @Test("if only a changed setting can end a transfer's wait, an explanation says that waiting does not help")
    func stuck() {
        for waiting in [task(BH_REASON_NETWORK, text: "so it never runs"), task(BH_REASON_QUIET_HOURS)] {
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
        let waits = [wait(BH_REASON_POWER, from: evening - 10 * hour, to: evening - hour)]
        #expect(explanation(task(BH_REASON_NONE, state: BH_TASK_RUNNING)).lines[0].hasSuffix(" is moving."))
        #expect(explanation(task(BH_REASON_NONE)).lines[0].hasSuffix(" is about to start."))
        let ended = explanation(task(BH_REASON_NONE, state: BH_TASK_SUCCEEDED), waits: waits).lines
        #expect(ended[0].hasSuffix(" has succeeded at 20:10 and waits for nothing."))
        #expect(ended.contains("It has waited:"))
        #expect(ended.contains("  20 Nov 11:10 - 20:10           9 h  waited for external power"))
        #expect(!ended.contains("What you can do:"))
        #expect(explanation(task(BH_REASON_STALLED, state: BH_TASK_RUNNING)).lines[0]
            .hasSuffix(" waits for a server that sends nothing any more."))
    }

    @Test("an explanation escapes control characters")
    func control() {
        let lines = explanation(task(BH_REASON_NETWORK, text: "the network \u{1b}[2Jevil is of kind wifi")).lines
        #expect(!lines.contains { $0.unicodeScalars.contains("\u{1b}") })
    }
}
