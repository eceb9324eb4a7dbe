import BackhaulModel
import Testing

/// The state of the *part file* before the request. A download writes its bytes to this file. The file has no bytes or
/// 500 bytes. There may be a *checkpoint*: what the database records about the part file.
struct ExistingPart {
    var offset: UInt64
    var checkpoint: Checkpoint?

    static let nothing = ExistingPart(offset: 0, checkpoint: nil)
    static let tagged = bytes(of: 1000, Validator(entityTag: "\"a\""))
    static let taggedOfUnknownSize = bytes(of: nil, Validator(entityTag: "\"a\""))
    static let taggedAndDated = bytes(of: 1000, Validator(entityTag: "\"a\"", lastModified: monday))
    static let dated = bytes(of: 1000, Validator(lastModified: monday))
    static let datedOfUnknownSize = bytes(of: nil, Validator(lastModified: monday))
    static let unvalidated = bytes(of: 1000, Validator())
    /// The part file after two responses of the server have contradicted each other. It has no bytes, but there is a
    /// checkpoint.
    static let promised = ExistingPart(
        offset: 0,
        checkpoint: Checkpoint(
            validator: Validator(entityTag: "\"a\""), finalURL: "https://example.org/file", size: 1000, syncedOffset: 0,
            bootID: ""))
    static let unknown = ExistingPart(offset: 500, checkpoint: nil)

    static func bytes(of size: UInt64?, _ validator: Validator) -> ExistingPart {
        ExistingPart(
            offset: 500,
            checkpoint: Checkpoint(
                validator: validator, finalURL: "https://example.org/file", size: size, syncedOffset: 400,
                bootID: "boot"))
    }
}

/// What the download does with the response.
enum ExpectedPlan: Equatable {
    case appends(of: UInt64, through: UInt64)
    case startsOver(size: UInt64?)
    case isWhole
    case isUnchanged
    case triesAgain
    case triesAgainFromZero
    case startsOverOnce
    case withoutRange
    case fails(Status)

    init(_ plan: ResponsePlan) {
        switch plan {
        case .append(let size, let through): self = .appends(of: size, through: through)
        case .startOver(let size, _, _): self = .startsOver(size: size)
        case .whole: self = .isWhole
        case .unchanged: self = .isUnchanged
        case .retry(_, let fromZero): self = fromZero ? .triesAgainFromZero : .triesAgain
        case .contradiction: self = .startsOverOnce
        case .withoutRange: self = .withoutRange
        case .fail(let failure): self = .fails(failure.status)
        }
    }
}

/// A case of a test: the part file before the request, the response, and what the download does with the response.
struct ResponseCase: CustomTestStringConvertible {
    var kept: ExistingPart
    var status: Int32
    var lines: [String]
    var url: String
    var expected: ExpectedPlan

    init(
        _ kept: ExistingPart, _ status: Int32, _ lines: String..., url: String = "https://example.org/file",
        expect expected: ExpectedPlan
    ) {
        (self.kept, self.status, self.lines, self.url, self.expected) = (kept, status, lines, url, expected)
    }

    var plan: ResponsePlan {
        ResponsePlan.decide(head(status, lines: lines, url: url), offset: kept.offset, known: kept.checkpoint)
    }

    var testDescription: String {
        let validator = kept.checkpoint?.validator.ifRange ?? "no validator"
        let size = kept.checkpoint?.size.map { " of \($0)" } ?? ""
        return "\(kept.offset) bytes\(size), \(validator); \(status) \(lines.joined(separator: " | ")) \(url)"
    }
}
