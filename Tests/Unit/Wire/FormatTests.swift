import BackhaulModel
import BackhaulWire
import Testing

@Suite struct FormatTests {
    @Test("a hello has the preface, client id, application, process id, observer flag, launch token and closed clients")
    func hello() throws {
        let hello = Hello(client: ClientID(high: 1, low: 0x0203), application: "org.a", process: 7)
        #expect(
            try Wire.encode(.hello(hello))
                == [46, 0, 0, 0] + [1] + Array("bhul".utf8) + [1, 0] + [0, 0, 1, 0] + [1, 0, 0, 0, 0, 0, 0, 0]
                + [3, 2, 0, 0, 0, 0, 0, 0] + [5, 0, 0, 0] + Array("org.a".utf8) + [7, 0, 0, 0] + [0] + [0]
                + [0, 0, 0, 0])
    }

    @Test("the messages `welcome` and `requestExit` have the same format in all protocol versions")
    func handingOver() throws {
        let versions = Versions(wire: 0x0102, library: 0x0A0B0C)
        let opening = Array("bhul".utf8) + [2, 1] + [0x0C, 0x0B, 0x0A, 0]
        let welcome = Welcome(versions: versions, isDaemon: true, process: 7)
        #expect(Wire.encode(.welcome(welcome)) == [16, 0, 0, 0] + [65] + opening + [1] + [7, 0, 0, 0])
        #expect(try Wire.encode(.requestExit(versions)) == [11, 0, 0, 0] + [3] + opening)
    }

    @Test("a command has two sequence numbers and a tag before its fields")
    func command() throws {
        let message = ClientMessage.command(
            sequence: 258, repliedThrough: 257,
            .poll(HandleID(rawValue: 5), after: EventID(rawValue: 6), maximum: 100))
        #expect(
            try Wire.encode(message)
                == [38, 0, 0, 0] + [2] + [2, 1, 0, 0, 0, 0, 0, 0] + [1, 1, 0, 0, 0, 0, 0, 0] + [7]
                + [5, 0, 0, 0, 0, 0, 0, 0] + [6, 0, 0, 0, 0, 0, 0, 0] + [100, 0, 0, 0])
    }

    @Test("a goodbye is a tag and an optional failure in all protocol versions")
    func goodbye() {
        #expect(Wire.encode(.goodbye(nil)) == [2, 0, 0, 0, 68, 0])
        let failure = Failure(.engineIncompatible, "no", detail: -2, index: 3)
        #expect(
            Wire.encode(.goodbye(failure))
                == [27, 0, 0, 0] + [68, 1] + [31, 0] + [254, 255, 255, 255, 255, 255, 255, 255] + [2, 0, 0, 0]
                + Array("no".utf8) + [1] + [3, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("a reply that is stored in the database begins with the protocol version")
    func storedReply() {
        #expect(Wire.encodeReply(.count(9)) == [1, 0] + [3] + [9, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("in the reply to an enqueue, only a task that existed before has a state and an end event")
    func enqueued() {
        let new = Enqueued(task: TaskID(rawValue: 7), disposition: .new)
        let found = Enqueued(
            task: TaskID(rawValue: 8), disposition: .existing, state: .succeeded, end: EventID(rawValue: 9))
        // The version, the kind of the reply, and the number of entries.
        let head: [UInt8] = [1, 0, 6, 2, 0, 0, 0]
        // Each entry has the task's id and the disposition.
        let first: [UInt8] = [7, 0, 0, 0, 0, 0, 0, 0, 1]
        let second: [UInt8] = [8, 0, 0, 0, 0, 0, 0, 0, 2, 4, 9, 0, 0, 0, 0, 0, 0, 0]
        #expect(Wire.encodeReply(.enqueued([new, found])) == head + first + second)
    }
}
