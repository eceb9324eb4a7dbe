import BackhaulModel
import Testing

@Suite("A message that is too long for the host's buffer")
struct ShortenedMessageTests {
    private let reason = "cannot be made: the directory is not there; make it"

    @Test("the middle of its longest words is left out, and the reason at its end stays")
    func longPath() {
        let path = "/home/" + String(repeating: "a", count: 900) + "/photo.jpg"
        let short = ShortenedMessage.text("the file \(path) \(reason)", size: 200)
        #expect(short.hasPrefix("the file /home/a") && short.hasSuffix("/photo.jpg \(reason)"))
        #expect(short.contains("…") && (190...200).contains(short.utf8.count))
    }

    @Test("of two long words, the longer one is shortened first")
    func twoWords() {
        let url = "https://example.org/" + String(repeating: "b", count: 100)
        let path = "/" + String(repeating: "c", count: 900)
        let short = ShortenedMessage.text("\(url) \(path) \(reason)", size: 400)
        #expect(short.hasPrefix(url) && short.hasSuffix(reason) && short.utf8.count <= 400)
    }

    @Test("a message of many short words loses its middle")
    func manyWords() {
        let short = ShortenedMessage.text(String(repeating: "a path with blanks ", count: 100) + reason, size: 200)
        #expect(short.hasPrefix("a path with") && short.hasSuffix(" make it") && short.utf8.count <= 200)
    }

    @Test("a message is cut only between characters", arguments: 100...110)
    func characters(size: Int) {
        let short = ShortenedMessage.text(String(repeating: "ä€", count: 100), size: size)
        #expect(short.utf8.count <= size && !short.contains("\u{FFFD}"))
    }
}
