import BackhaulModel
import BackhaulWire
import Foundation
import Testing

@Suite struct RecordedFrameTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// Returns a name with the case of the value, such as "command poll" or "reply events".
    private func name(_ kind: String, _ value: Any) -> String { "\(kind) \("\(value)".prefix { $0 != "(" })" }

    private func frames() throws -> [(name: String, bytes: [UInt8])] {
        var generator = Generator.filling()
        var frames: [(name: String, bytes: [UInt8])] = []
        for message in generator.clientMessages() {
            let bytes = try Wire.encode(message)
            switch message {
            case .command(_, _, let command): frames.append((name("command", command), bytes))
            // The connection preface has the library's version, which changes with each release.
            case .hello: frames.append(("client hello, after its preface", Array(bytes.dropFirst(15))))
            default: frames.append((name("client", message), bytes))
            }
        }
        for message in generator.engineMessages() {
            switch message {
            case .reply(_, let reply): frames.append((name("reply", reply), Wire.encode(message)))
            case .notice(let notice): frames.append((name("notice", notice), Wire.encode(message)))
            default: frames.append((name("engine", message), Wire.encode(message)))
            }
        }
        return frames
    }

    /// Returns the text of the frames. Each name is on its own line. The indented lines below the name have the bytes
    /// in hexadecimal.
    private func text(_ frames: [(name: String, bytes: [UInt8])]) -> String {
        var lines: [String] = []
        for frame in frames {
            lines.append(frame.name)
            for start in stride(from: 0, to: frame.bytes.count, by: 56) {
                let digits = frame.bytes[start..<min(start + 56, frame.bytes.count)]
                    .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                lines.append("  " + digits.joined())
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test("each message has its recorded bytes")
    func recorded() throws {
        let file = RecordedFrameTests.folder.appendingPathComponent("RecordedFrames.txt")
        let recorded = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let written = text(try frames())
        let lines = written.split(separator: "\n")
        let same = zip(recorded, lines).prefix { $0 == $1 }.count
        guard same < max(recorded.count, lines.count) else { return }
        let new = FileManager.default.temporaryDirectory.appendingPathComponent("RecordedFrames.txt")
        try written.write(to: new, atomically: true, encoding: .utf8)
        let message = lines.prefix(same + 1).last { !$0.hasPrefix(" ") } ?? ""
        Issue.record("line \(same + 1) differs, of \(message); the present bytes are in \(new.path)")
    }

    @Test("each recorded message is decoded to the same value")
    func roundTrip() throws {
        var generator = Generator.filling()
        for message in generator.clientMessages() {
            var reader = FrameReader()
            reader.append(try Wire.encode(message))
            #expect(try reader.nextClientMessage() == message)
        }
        for message in generator.engineMessages() {
            var reader = FrameReader()
            reader.append(Wire.encode(message))
            #expect(try reader.nextEngineMessage() == message)
        }
    }
}
