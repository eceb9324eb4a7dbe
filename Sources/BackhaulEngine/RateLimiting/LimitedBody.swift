internal import BackhaulTransport

/// A request body whose bytes wait for their task's rate.
final class LimitedBody: TransferBody {
    /// Bytes at a time while there is a limit: what is sent at once is taken ahead.
    private static let pieceSize = 16_384

    private let body: any TransferBody
    private weak var runner: TaskRunner?

    init(_ body: any TransferBody, _ runner: TaskRunner) {
        self.body = body
        self.runner = runner
    }

    var size: UInt64 { body.size }

    func rewind() { body.rewind() }

    func read(into room: inout MutableRawSpan) -> BodyRead {
        guard let runner, !runner.core.rates.isUnlimited else { return body.read(into: &room) }
        guard runner.mayMove() else { return .wait }
        var piece = room._mutatingExtracting(first: Self.pieceSize)
        let read = body.read(into: &piece)
        if case .bytes(let count) = read { runner.moved(count) }
        return read
    }
}
