@testable import BackhaulModel

/// A server that obeys its protocol. The bytes of an input decide how much of a request it receives, where connections
/// break, and when it loses an upload.
struct UploadServer {
    private let uploadProtocol: UploadProtocol
    private let size: UInt64
    /// How many bytes of the body the server has, from the first one on; nil without a resource.
    private var held: UInt64?
    /// Whether the server has the whole body, and knows that it is whole.
    private(set) var isComplete = false

    static let url = "https://example.org/u"

    init(_ uploadProtocol: UploadProtocol, size: UInt64) {
        (self.uploadProtocol, self.size) = (uploadProtocol, size)
    }

    /// What the machine is notified of after a request. Without further bytes, the server receives the whole request
    /// and responds with success.
    mutating func events(after step: UploadStep, _ input: inout FuzzInput) -> [UploadMachine.Event] {
        if input.byte() % 16 == 1 { return [lost] }
        switch step {
        case .whole: return takeWhole(&input)
        case .create:
            setHeld(0)
            return respond(201, wasBodySent: true, &input)
        case .probe:
            if let held, !isComplete, input.byte() % 8 == 1 { setHeld(input.flag() ? held / 2 : nil) }
            return respond(held == nil ? 404 : 204, wasBodySent: true, &input)
        case .append(let resource, let count): return take(count, from: resource.offset, &input)
        case .list, .part, .complete: return [lost]
        }
    }

    private var lost: UploadMachine.Event {
        .transferFailed(Failure(.connectionLost, "the connection is lost"), isTransient: true)
    }

    private mutating func setHeld(_ count: UInt64?) {
        held = count
        if uploadProtocol == .tus, count == size { isComplete = true }
    }

    private mutating func takeWhole(_ input: inout FuzzInput) -> [UploadMachine.Event] {
        held = nil
        var events: [UploadMachine.Event] = []
        if input.flag() {
            events.append(interim(offset: nil, &input))
            held = 0
        }
        let taken = amount(of: size, &input)
        if held != nil { held = taken }
        guard taken == size, !input.flag() else { return events + cut(&input) }
        isComplete = true
        return events + respond(200, wasBodySent: true, &input)
    }

    private mutating func take(
        _ count: UInt64, from offset: UInt64, _ input: inout FuzzInput
    ) -> [UploadMachine.Event] {
        guard let held else { return respond(404, wasBodySent: false, &input) }
        guard held == offset, !isComplete else { return respond(409, wasBodySent: false, &input) }
        let taken = amount(of: count, &input)
        setHeld(held + taken)
        let events = input.flag() ? [interim(offset: held + taken / 2, &input)] : []
        if taken == count, !input.flag() {
            isComplete = held + taken == size
            return events + respond(204, wasBodySent: true, &input)
        }
        // A server of tus may end a request after a part of its bytes.
        return events + (uploadProtocol == .tus && input.flag() ? respond(204, wasBodySent: true, &input) : cut(&input))
    }

    /// All bytes, none, or some of them.
    private func amount(of count: UInt64, _ input: inout FuzzInput) -> UInt64 {
        let part = input.byte()
        return part == 0 ? count : min(count, count / 256 * UInt64(part - 1) + UInt64(part - 1) % 16)
    }

    /// A connection that breaks, or an error before the end of the request.
    private func cut(_ input: inout FuzzInput) -> [UploadMachine.Event] {
        input.flag() ? [lost] : respond(input.choice([503, 500, 423]), wasBodySent: false, &input)
    }

    private func interim(offset: UInt64?, _ input: inout FuzzInput) -> UploadMachine.Event {
        var fields = [ResponseField("Upload-Draft-Interop-Version", "\(uploadProtocol.interopVersion ?? 0)")]
        if let offset { fields.append(ResponseField("Upload-Offset", "\(offset)")) }
        return .interim(head(104, fields + limit(&input)), location: offset == nil || input.flag() ? Self.url : nil)
    }

    private func limit(_ input: inout FuzzInput) -> [ResponseField] {
        guard input.byte() % 4 == 1 else { return [] }
        return [ResponseField("Upload-Limit", "max-append-size=\(input.choice([1, 65_536, 100_000, 1 << 40]))")]
    }

    private func respond(
        _ status: Int32, wasBodySent: Bool, _ input: inout FuzzInput
    ) -> [UploadMachine.Event] {
        var fields = limit(&input)
        if let held, status < 300 {
            fields.append(ResponseField("Upload-Offset", "\(held)"))
            if uploadProtocol == .ietf { fields.append(ResponseField("Upload-Complete", isComplete ? "?1" : "?0")) }
            if uploadProtocol == .apple { fields.append(ResponseField("Upload-Incomplete", isComplete ? "?0" : "?1")) }
            if input.flag() { fields.append(ResponseField("Upload-Length", "\(size)")) }
        }
        if input.byte() % 16 == 1 { return [lost] }
        return [
            .head(head(status, fields), nil, location: status == 201 ? Self.url : nil, wasBodySent: wasBodySent),
            .transferComplete(wasBodySent: wasBodySent),
        ]
    }

    private func head(_ status: Int32, _ fields: [ResponseField]) -> ResponseHead {
        ResponseHead(
            status: status, finalURL: "https://example.org/a", isMultiplexed: false, fields: fields,
            origin: "https://example.org:443")
    }
}
