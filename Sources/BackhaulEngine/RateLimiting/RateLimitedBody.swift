internal import BackhaulTransport

/// A request body that is read no faster than the rate limits of its task allow.
final class RateLimitedBody: TransferBody {
    /// While a rate limit applies, one read returns at most this many bytes, because libcurl sends all bytes of a read
    /// immediately.
    private static let chunkSize = 16_384

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
        var chunk = room._mutatingExtracting(first: Self.chunkSize)
        let read = body.read(into: &chunk)
        if case .bytes(let count) = read { runner.attempt.takeFromRate(count) }
        return read
    }
}
