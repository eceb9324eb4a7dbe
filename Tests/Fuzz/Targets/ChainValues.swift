import BackhaulModel
import BackhaulPlatform

@testable import BackhaulStore
@testable import backhaul

/// The values that a task takes from the response to another task.
enum ChainValues {
    /// The bytes are a document of JSON, the place in it, and the value of a header field.
    @Sendable static func take(_ bytes: [UInt8]) throws {
        guard let store = ChainStore.shared else { throw Violation(description: "the store cannot be opened") }
        var input = FuzzInput(bytes)
        let pointer = (0...input.byte() % 3).map { _ in input.choice(names) }
        let place = "json:" + pointer.map { "/" + escaped($0) }.joined()
        var written = input
        let (text, value) = document(&written, along: pointer[...])
        let taken = try store.value(at: place, of: Array(text.utf8), [])
        try requireEqual(taken, value, "the value at \(place) of \(text)")
        try checkRaw(Array(input.rest), pointer, place, store)
        let field = HeaderField("X-A", String(decoding: input.rest.filter { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self))
        let found = try store.value(at: "header:x-a", of: [], [HeaderField("X-B", "b"), field])
        try requireEqual(found.map { Array($0.utf8) }, Array(field.value.utf8), "the value of the field")
        try requireEqual(try store.value(at: "header:x-c", of: [], [field]), nil, "the value of no field")
    }

    /// The bytes as the document. The parser of the command line reads the same value, if it accepts the document.
    private static func checkRaw(
        _ bytes: [UInt8], _ pointer: [String], _ place: String, _ store: ChainStore
    ) throws {
        let found = try store.value(at: place, of: bytes, [])
        guard let text = String(validating: bytes, as: UTF8.self), var json = try? JSONParser.parse(text) else {
            return
        }
        for token in pointer { json = member(token, of: json) }
        switch json {
        case .string(let text): try requireEqual(found.map { Array($0.utf8) }, Array(text.utf8), "the text at \(place)")
        // The parser does not keep the sign of -0.
        case .unsigned(0): try require(found == "0" || found == "-0", "the number \(found ?? "nil")")
        case .unsigned(let number): try requireEqual(found, "\(number)", "the number at \(place)")
        case .integer(let number): try requireEqual(found, "\(number)", "the number at \(place)")
        case .null, .bool, .array, .object: try requireEqual(found, nil, "no value at \(place)")
        }
    }

    private static func member(_ token: String, of json: JSON) -> JSON {
        switch json {
        case .object(let members): members.first { $0.0.utf8.elementsEqual(token.utf8) }?.1 ?? .null
        case .array(let items): items.indices.first { "\($0)" == token }.map { items[$0] } ?? .null
        default: .null
        }
    }

    private static let names = ["a", "0", "1", "a/b", "m~n", "", "é", "a b", "\"", "\\", "~1"]

    private static func escaped(_ token: String) -> String {
        token.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    /// A document with the value at the end of the path.
    private static func document(_ input: inout FuzzInput, along path: ArraySlice<String>) -> (String, String?) {
        let gap = input.choice(["", " ", "\r\n\t"])
        guard let name = path.first else { return scalar(&input) }
        let (text, value) = document(&input, along: path.dropFirst())
        if let index = Int(name), input.flag() {
            let items = [String](repeating: "{\"0\":\"b\"}", count: index) + [text] + (input.flag() ? ["[]"] : [])
            return ("[" + items.joined(separator: gap + ",") + gap + "]", value)
        }
        var members = [quoted(name, &input) + gap + ":" + gap + text]
        if input.flag() { members.insert("\"ab\":{\"a\":\"b\"}", at: 0) }
        if input.flag() { members.append("\"A\":\"b\"") }
        return (gap + "{" + members.joined(separator: "," + gap) + "}" + gap, value)
    }

    private static func scalar(_ input: inout FuzzInput) -> (String, String?) {
        switch input.byte() % 3 {
        case 0:
            let text = input.text(of: Array("ab\"\\/\n\u{1}é日🎉\u{7F}"), atMost: 12)
            return (quoted(text, &input), text)
        case 1:
            let whole = input.choice(["0", "-0", "7", "-12"]) + input.text(of: Array("0123456789"), atMost: 30)
            let sign = whole.hasPrefix("-") ? "-" : ""
            let digits = whole.drop { $0 == "-" || $0 == "0" }
            let number =
                sign + (digits.isEmpty ? "0" : digits)
                + input.choice(["", "", ".0", ".50", "e3", "E+03", "e-400", ".123456789012345678901"])
            return (number, number)
        default: return (input.choice(["null", "true", "false", "{}", "[]", "{\"a\":1}", "[\"a\"]"]), nil)
        }
    }

    private static func quoted(_ text: String, _ input: inout FuzzInput) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || input.byte() % 4 == 1 {
                let units = String(scalar).utf16.map { String(0x10000 + UInt32($0), radix: 16).suffix(4) }
                quoted += units.map { "\\u" + $0 }.joined()
            } else if "\"\\".unicodeScalars.contains(scalar) {
                quoted += "\\\(scalar)"
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

/// A store with a session, in which each input enqueues its tasks again.
///
/// Unchecked: only one thread runs a target.
private final class ChainStore: @unchecked Sendable {
    static let shared = try? ChainStore()

    private let database: Database
    private let transaction: Transaction
    private let session: SessionID

    private init() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let directory = try StoreDirectory.open(path: scratch.path)
        database = try Database(directory: directory)
        transaction = Transaction(connection: database.connection, directory: directory)
        let consumer = ConsumerIdentity(
            client: ClientID(high: 1, low: 7), handle: HandleID(rawValue: 1), process: .current)
        session = try transaction.sessions.create(
            application: "org.example", configuration: SessionConfiguration(identifier: "fuzz"), role: .produce,
            consumer: consumer, now: 1_000
        ).id
    }

    /// Returns what a task takes as its body; nil if the response has no such value.
    func value(at place: String, of body: [UInt8], _ headers: [HeaderField]) throws -> String? {
        try database.connection.execute("SAVEPOINT fuzz")
        defer { try? database.connection.execute("ROLLBACK TO fuzz; RELEASE fuzz") }
        let first = try enqueue(upload(1))
        var outcome = Outcome(state: .succeeded)
        outcome.response.headers = headers
        outcome.response.responseBody = body
        _ = try transaction.endings.record(first, outcome, now: 3_000)
        var request = upload(2)
        var dependency = Dependency(.id(first))
        dependency.body = place
        request.options.dependencies = [dependency]
        do {
            let task = try enqueue(request)
            guard case .bytes(let bytes)? = try transaction.tasks.find(task)?.task.request.options.body else {
                throw Violation(description: "the task has no body")
            }
            return String(decoding: bytes, as: UTF8.self)
        } catch let failure as Failure {
            try requireEqual(failure.status, .badResponse, failure.message)
            return nil
        }
    }

    private func upload(_ number: Int) -> Request {
        var request = Request(url: "https://example.org/\(number)")
        request.options.body = .bytes([])
        return request
    }

    private func enqueue(_ request: Request) throws -> TaskID {
        let origin = Origin(scheme: "https", server: "example.org", port: 443)
        let results = try transaction.tasks.enqueue([(request, origin)], in: session, now: 2_000).results
        guard let task = results.first?.task else { throw Violation(description: "no task was enqueued") }
        return task
    }
}
