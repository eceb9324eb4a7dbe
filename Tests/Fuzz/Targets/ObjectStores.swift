@testable import BackhaulModel
@testable import backhaul

/// What servers of S3, and the commands and servers that give credentials, send.
enum ObjectStores {
    @Sendable static func document(_ bytes: [UInt8]) throws {
        if let error = S3Error(bytes) { try require(error.code.utf8.count <= 4 * bytes.count, "a longer code") }
        var listing = PartListing()
        if listing.add(bytes) {
            let numbers = listing.parts.map(\.number)
            try require(zip(numbers, numbers.dropFirst()).allSatisfy(<), "the numbers \(numbers)")
            try checkUsable(listing)
        }
        guard let document = S3Document(bytes) else { return }
        try require(depth(of: document.root) <= 8, "a depth of \(depth(of: document.root))")
        try requireEqual(
            S3Document(Array(written(document.root).utf8)), document, "the document, written and read again")
    }

    /// The usable parts of a body are inside of it, and no two are the same.
    private static func checkUsable(_ listing: PartListing) throws {
        let (partSize, size): (UInt64, UInt64) = (8, 20)
        for part in listing.usable(partSize: partSize, of: size) {
            try require((1...3).contains(part.number), "part \(part.number)")
            try requireEqual(part.size, part.number == 3 ? 4 : 8, "the size of part \(part.number)")
        }
    }

    private static func depth(of element: S3Document.Element) -> Int {
        1 + (element.children.map(depth).max() ?? 0)
    }

    private static func written(_ element: S3Document.Element) -> String {
        let content = S3Document.escaped(element.text) + element.children.map(written).joined()
        return "<\(element.name)>\(content)</\(element.name)>"
    }

    /// Credentials that pass their check add no line to the header of a request.
    private static func checkSigned(_ credentials: S3Credentials) throws {
        guard (try? credentials.check(from: .command(""))) != nil else { return }
        let location = try S3Location(S3Object("s3://bucket/key"), S3Settings())
        let signature = RequestSignature(credentials, region: location.region) { _ in
            [UInt8](repeating: 0, count: 32)
        }
        let fields = try signature.fields(
            method: "GET", location, headers: [], payload: RequestSignature.emptyPayload, seconds: 0)
        for field in fields {
            let isClean = field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            try require(isClean, "a control character in the field \(field.name)")
        }
    }

    /// A text that the other reader of JSON accepts, too, has the same texts.
    @Sendable static func credentials(_ bytes: [UInt8]) throws {
        if let credentials = S3Credentials(json: bytes) {
            try require(!credentials.accessKey.isEmpty && !credentials.secretKey.isEmpty, "an empty key")
            try require(credentials.sessionToken != "", "an empty token")
            try checkSigned(credentials)
        }
        guard let members = FlatJSON.members(bytes), let text = String(validating: bytes, as: UTF8.self),
            let json = try? JSONParser.parse(text), case .object(let pairs) = json
        else { return }
        try requireEqual(Set(pairs.map(\.0)).isSuperset(of: members.keys), true, "the names")
        for (name, value) in Dictionary(pairs, uniquingKeysWith: { _, last in last }) {
            switch value {
            case .string(let text): try requireEqual(members[name], text, "the member \(name)")
            case .null: try requireEqual(members[name], nil, "the member \(name)")
            default: break
            }
        }
    }
}
