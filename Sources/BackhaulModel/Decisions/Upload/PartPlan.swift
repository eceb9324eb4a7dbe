/// A part of an upload in parts.
public struct UploadPart: Equatable, Sendable {
    /// The number of the part, from 1.
    public let number: UInt64
    /// The bytes of the body that are in the part.
    public let range: Range<UInt64>
}

/// Which parts of an upload are sent, are in flight, and are sent next, as a decision without I/O.
public struct PartPlan: Equatable, Sendable {
    /// The most parts that are in flight together.
    public static let mostInFlight = 4

    private let size: UInt64
    private let partSize: UInt64
    private let count: UInt64
    private var sent: Set<UInt64>
    private var inFlight: Set<UInt64> = []
    /// The first part that is neither sent nor in flight.
    private var next: UInt64 = 1
    /// The size of the sent parts together.
    public private(set) var sentBytes: UInt64 = 0

    /// - sent: the numbers of the parts that the server has.
    init(size: UInt64, partSize: UInt64, sent: [UInt64] = []) {
        (self.size, self.partSize) = (size, max(1, partSize))
        count = Self.count(of: size, partSize: self.partSize)
        self.sent = Set(sent)
        sentBytes = sent.reduce(0) { $0 &+ part($1).count }
        skipTaken()
    }

    /// How many parts a body has.
    static func count(of size: UInt64, partSize: UInt64) -> UInt64 { size == 0 ? 0 : (size - 1) / partSize + 1 }

    var isSent: Bool { UInt64(sent.count) == count }

    /// Whether one more part may be in flight.
    var mayTake: Bool { inFlight.count < Self.mostInFlight && next <= count }

    var hasPartsInFlight: Bool { !inFlight.isEmpty }

    /// Returns the next part, which is in flight from now on.
    mutating func take() -> UploadPart? {
        guard mayTake else { return nil }
        let taken = part(next)
        inFlight.insert(next)
        skipTaken()
        return taken
    }

    /// Notes that the server has the part.
    mutating func finish(_ part: UploadPart) {
        guard inFlight.remove(part.number) != nil else { return }
        sent.insert(part.number)
        sentBytes += part.count
    }

    /// Notes that the part was not sent.
    mutating func giveBack(_ part: UploadPart) {
        guard inFlight.remove(part.number) != nil else { return }
        next = min(next, part.number)
    }

    private func part(_ number: UInt64) -> UploadPart {
        let start = (number - 1) * partSize
        return UploadPart(number: number, range: start..<start + min(partSize, size - start))
    }

    private mutating func skipTaken() {
        while sent.contains(next) || inFlight.contains(next) { next += 1 }
    }
}

extension UploadPart {
    /// The number of bytes in the part.
    public var count: UInt64 { range.upperBound - range.lowerBound }
}
