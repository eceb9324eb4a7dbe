import BackhaulModel
import Testing

@Suite("A download of a range")
struct DownloadRangeTests {
    private static func script(_ start: UInt64, _ size: UInt64?) -> DownloadScript {
        var terms = DownloadTerms()
        terms.range = ByteRange(start: start, size: size)
        return DownloadScript(limits: .wide, terms: terms)
    }

    @Test("the request has the range, and a later request the bytes of the range that are missing")
    func requests() {
        let machine = Self.script(100, 50).machine
        #expect(machine.requestedBytes(from: 0)! == (100, 149))
        #expect(machine.requestedBytes(from: 20)! == (120, 149))
        let open = Self.script(100, nil).machine
        #expect(open.requestedBytes(from: 20)! == (120, nil))
        #expect(DownloadScript().machine.requestedBytes(from: 0) == nil)
    }

    @Test("the bytes before and behind the range are dropped, and the transfer stops after its last byte")
    func cut() {
        var script = Self.script(100, 50)
        script.after(.start, .head(whole))
        #expect(script.bytesOfFile(among: 60).isEmpty)
        #expect(script.bytesOfFile(among: 60) == 40..<60)
        script.after(.received(count: 20))
        #expect(script.bytesOfFile(among: 60) == 0..<30)
        #expect(script.handle(.received(count: 30)) == [.stopTransfer, .releaseSlot, .seal(size: 50)])
        #expect(script.machine.bytesReceived == 180 && script.machine.offset == 50)
    }

    @Test("if a body without a length ends before the range does, the resource is too short")
    func short() {
        var script = Self.script(100, 50)
        script.after(.start, .head(head(200, "ETag: \"a\"")))
        #expect(script.bytesOfFile(among: 120) == 100..<120)
        script.after(.received(count: 20))
        guard case .discardPart? = script.handle(.transferComplete).last else {
            Issue.record("the attempt continues in the phase \(script.machine.phase)")
            return
        }
        guard case .conclude(.retry(let failure, _, _, fromZero: true), nil)? = script.handle(.discarded).last else {
            Issue.record("the attempt is not retried")
            return
        }
        #expect(failure.status == .sizeMismatch && failure.message.contains("120 bytes"))
    }

    @Test("a connection that breaks inside a body with a length is no short resource")
    func broken() {
        var script = Self.script(100, 50)
        script.after(.start, .head(whole))
        #expect(script.bytesOfFile(among: 120) == 100..<120)
        script.after(.received(count: 20), .transferComplete)
        #expect(script.machine.phase == .saving)
    }
}

extension DownloadScript {
    fileprivate mutating func bytesOfFile(among count: Int) -> Range<Int> { change { $0.bytesOfFile(among: count) } }
}
