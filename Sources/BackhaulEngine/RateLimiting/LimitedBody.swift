internal import BackhaulTransport

/// A request body that is read no faster than the rate limits of its task allow.
final class LimitedBody: TransferBody {
    /// The most bytes of one read while there is a limit, because libcurl sends all bytes of a read immediately.
    private static let pieceSize = 16_384

    private let body: any TransferBody
    private weak var runner: (any TransferRunner)?

    init(_ body: any TransferBody, _ runner: any TransferRunner) {
        self.body = body
        self.runner = runner
    }

    var size: UInt64 { body.size }

    func rewind() { body.rewind() }

    func read(into room: inout MutableRawSpan) -> BodyRead {
        guard let runner, !runner.attempt.context.rates.isUnlimited else { return body.read(into: &room) }
        guard runner.mayMove() else { return .wait }
        var piece = room._mutatingExtracting(first: Self.pieceSize)
        let read = body.read(into: &piece)
        if case .bytes(let count) = read { runner.attempt.takeFromRate(count) }
        return read
    }
}
