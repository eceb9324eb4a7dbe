import BackhaulModel
import Testing

@Suite("Acknowledgements")
struct AcknowledgementTests {
    private func id(_ number: UInt64) -> EventID { EventID(rawValue: number) }

    @Test("a list of ids has as many ids as the list, whatever was acknowledged before")
    func ids() {
        let list = Acknowledgement.ids([id(7), id(30), id(9)])
        #expect(list.count(after: nil) == 3)
        #expect(list.count(after: id(8)) == 3)
        #expect(list.greatest == id(30))
        #expect(Acknowledgement.ids([]).greatest == .zero)
    }

    @Test("an acknowledgement through an id has the ids after the last acknowledged id")
    func through() {
        let through = Acknowledgement.through(id(30))
        #expect(through.count(after: id(22)) == 8)
        #expect(through.count(after: id(30)) == 0)
        #expect(through.count(after: id(31)) == 0)
        #expect(through.greatest == id(30))
    }

    @Test("without an earlier acknowledgement, the number of ids through an id is unknown")
    func unknown() { #expect(Acknowledgement.through(id(30)).count(after: nil) == nil) }
}
