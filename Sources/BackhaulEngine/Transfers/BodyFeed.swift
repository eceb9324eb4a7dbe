internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// Reads a request body for the transfer, no faster than the rate limits of its task allow. A disk thread opens each
/// file and reads the first block. The event loop reads the next bytes itself, as long as they are in the page cache.
/// If a byte is not there, the disk thread reads the rest of the file: while the transfer sends one block, it reads the
/// next block.
final class BodyFeed: TransferBody {
    let layout: BodyLayout
    /// The bytes of the body that are sent.
    private let range: Range<UInt64>
    /// Whether the server has bytes of the body from an earlier request.
    private let continues: Bool
    var size: UInt64 { range.upperBound - range.lowerBound }
    /// This closure is called one time, after the first bytes were read.
    private var opened: (() -> Void)?
    private let failed: (Failure) -> Void
    private let mayMove: () -> Bool
    private weak var attempt: RunningAttempt?
    private let services: TransferServices
    weak var transfer: Transfer?

    private var blocks: [ArraySlice<UInt8>] = []
    private var buffered: Int { blocks.reduce(0) { $0 + $1.count } }
    /// The layout's segment that is read next, and the offset in this segment.
    private var next: (segment: Int, offset: UInt64) = (0, 0)
    private var reader: BodyReader?
    private var isReading = false
    /// Whether the disk thread reads the rest of the present file.
    private var readsAhead = false
    /// The number of rewinds. A block that was requested before the last rewind is dropped.
    private var generation: UInt64 = 0
    /// How many bytes were taken since the last rewind.
    private var taken: UInt64 = 0

    static let blockSize = 256 << 10
    /// The size of the first block. The server's first bytes wait for this block, so it is smaller.
    static let firstBlockSize = 64 << 10
    /// While a rate limit applies, one read returns at most this many bytes, because libcurl sends all bytes of a read
    /// immediately.
    private static let limitedSize = 16_384

    init(
        _ layout: BodyLayout, _ range: Range<UInt64>? = nil, continues: Bool = false, of attempt: RunningAttempt,
        mayMove: @escaping () -> Bool, opened: @escaping () -> Void, failed: @escaping (Failure) -> Void
    ) {
        self.layout = layout
        self.continues = continues
        self.range = range ?? 0..<layout.size
        self.attempt = attempt
        services = attempt.services
        self.mayMove = mayMove
        self.opened = opened
        self.failed = failed
        goToStart()
        fill()
    }

    func read(into room: inout MutableRawSpan) -> BodyRead {
        guard !services.traffic.rates.isUnlimited else { return take(into: &room) }
        guard mayMove() else { return .wait }
        var chunk = room._mutatingExtracting(first: Self.limitedSize)
        let read = take(into: &chunk)
        if case .bytes(let count) = read { attempt?.takeFromRate(count) }
        return read
    }

    private func take(into room: inout MutableRawSpan) -> BodyRead {
        var part = room._mutatingExtracting(first: Int(clamping: min(UInt64(room.byteCount), size - taken)))
        guard let count = takeBlock(into: &part) ?? readCached(into: &part) else { return .wait }
        taken += UInt64(count)
        fill()
        attempt?.sent(count)
        attempt?.passEffects()
        return .bytes(count)
    }

    private func takeBlock(into room: inout MutableRawSpan) -> Int? {
        guard let block = blocks.first else { return nil }
        let taken = block.prefix(room.byteCount)
        room.withUnsafeMutableBytes { $0.copyBytes(from: taken) }
        if taken.count == block.count { blocks.removeFirst() } else { blocks[0] = block.dropFirst(taken.count) }
        return taken.count
    }

    private func readCached(into room: inout MutableRawSpan) -> Int? {
        guard let reader, !isReading, case .file(let file) = layout.segments[next.segment] else { return nil }
        guard let count = reader.readCached(at: next.offset, into: &room) else {
            readsAhead = true
            fill()
            return nil
        }
        advance(count, in: file)
        return count
    }

    func rewind() {
        guard taken > 0 else { return }
        generation += 1
        blocks = []
        reader = nil
        isReading = false
        readsAhead = false
        taken = 0
        goToStart()
        fill()
    }

    private func goToStart() {
        next = (0, range.lowerBound)
        while next.segment < layout.segments.count, next.offset >= layout.segments[next.segment].size, next.offset > 0 {
            next = (next.segment + 1, next.offset - layout.segments[next.segment].size)
        }
    }

    private func fill() {
        while !isReading, buffered < Self.blockSize, next.segment < layout.segments.count {
            switch layout.segments[next.segment] {
            case .bytes(let bytes):
                add(bytes.dropFirst(Int(clamping: next.offset)))
                next = (next.segment + 1, 0)
            case .file(let file):
                // The next bytes of an open file are read by `readCached`.
                if reader != nil, !readsAhead { return }
                read(file)
            }
        }
        if !isReading { open() }
    }

    private func add(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        blocks.append(bytes)
    }

    /// Calls `opened` after this iteration of the loop, so that the initializer has returned before the call.
    private func open() {
        guard let opened else { return }
        self.opened = nil
        services.runtime.afterThisIteration { [attempt] in attempt?.afterwards(opened) ?? [] }
    }

    private func read(_ file: BodyFile) {
        let path = file.storedName.map(services.directory.bodyFile(named:)) ?? file.path
        let size = reader == nil ? Self.firstBlockSize : Self.blockSize
        let reader = reader ?? services.disk.bodyReader(file, at: path, continues: continues)
        self.reader = reader
        isReading = true
        let count = Int(min(file.size - min(next.offset, file.size), UInt64(size)))
        guard let attempt else { return }
        let generation = generation
        reader.read(
            at: next.offset, count: count,
            then: attempt.returning { [weak self] result in self?.received(result, generation, of: file) })
    }

    private func received(_ result: Result<[UInt8], Failure>, _ generation: UInt64, of file: BodyFile) {
        guard generation == self.generation else { return }
        isReading = false
        switch result {
        case .success(let bytes):
            add(bytes[...])
            advance(bytes.count, in: file)
            fill()
            open()
            if !blocks.isEmpty { transfer?.resumeSending() }
        case .failure(let failure):
            // The disk thread reads ahead, perhaps beyond the range. Only bytes that are sent can fail the request.
            if taken + UInt64(buffered) < size || opened != nil { failed(failure) }
        }
    }

    private func advance(_ count: Int, in file: BodyFile) {
        next.offset += UInt64(count)
        guard next.offset >= file.size else { return }
        next = (next.segment + 1, 0)
        reader = nil
        readsAhead = false
    }
}
