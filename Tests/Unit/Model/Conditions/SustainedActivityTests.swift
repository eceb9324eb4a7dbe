import BackhaulModel
import Testing

/// A transfer is *sustained* if bytes have arrived for at least five seconds, with only short pauses. Transfers with
/// the same key count together.
@Suite("Continuous transfer time")
struct SustainedActivityTests {
    private func sustained(noted times: [Int64], at now: Int64) -> Set<String> {
        var spans = SustainedActivity<String>()
        for time in times { spans.note("a", now: time) }
        return spans.sustained(now: now)
    }

    @Test("a transfer counts as sustained after five seconds")
    func one() {
        #expect(sustained(noted: [0, 1_000, 2_000, 3_000, 4_000, 4_999], at: 4_999) == [])
        #expect(sustained(noted: [0, 1_000, 2_000, 3_000, 4_000, 5_000], at: 5_000) == ["a"])
    }

    @Test("short transfers in a row count as one transfer, which ends after two idle seconds")
    func stream() {
        let begins = stride(from: Int64(0), through: 8_000, by: 2_000).map(\.self)
        #expect(sustained(noted: begins, at: 10_000) == ["a"])
        #expect(sustained(noted: begins, at: 10_001) == [])
        var spans = SustainedActivity<String>()
        for time in begins { spans.note("a", now: time) }
        #expect(spans.nextEnd == 10_001)
    }

    @Test("separate bursts of less than five seconds never count as sustained")
    func bursts() {
        var spans = SustainedActivity<String>()
        for burst in 0..<100 as Range<Int64> {
            for time in stride(from: burst * 10_000, to: burst * 10_000 + 5_000, by: 100) {
                spans.note("a", now: time)
                #expect(spans.sustained(now: time) == [])
            }
            #expect(spans.nextEnd == nil)
        }
    }

    @Test("sustained transfer time is counted separately for each key")
    func several() {
        var spans = SustainedActivity<String>()
        for time in stride(from: Int64(0), through: 6_000, by: 500) { spans.note(time < 3_000 ? "a" : "b", now: time) }
        #expect(spans.sustained(now: 6_000) == [])
    }
}
