import Glibc

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
        var input = FuzzInput(bytes)
        let root = element(&input, depth: 1)
        let start = input.choice(["", "\u{FEFF}", "<?xml version=\"1.0\"?>\n"])
        let text = start + varied(root, &input) + input.choice(["", "\n"])
        try requireEqual(S3Document(Array(text.utf8))?.root, root, "the document \(text)")
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

    private static let names = ["Error", "Code", "Part", "ETag", "a-1", "n:b_.c"]
    private static let characters = Array("ab <>&;\"'#]/é日🎉\n\t")

    private static func element(_ input: inout FuzzInput, depth: Int) -> S3Document.Element {
        var element = S3Document.Element(name: input.choice(names))
        element.text = input.text(of: characters, atMost: 12)
        guard depth < 8 else { return element }
        for _ in 0..<input.byte() % 4 { element.children.append(self.element(&input, depth: depth + 1)) }
        return element
    }

    /// One of the forms that XML has for the element.
    private static func varied(_ element: S3Document.Element, _ input: inout FuzzInput) -> String {
        let start = "<\(element.name)" + input.choice(["", " ", " xmlns=\"http://example.org/\"", "\n\ta='b'"])
        if element.text.isEmpty, element.children.isEmpty, input.flag() { return start + "/>" }
        let text = element.text.unicodeScalars.map { varied($0, &input) }.joined()
        let children = element.children.map { varied($0, &input) }.joined()
        return start + ">" + (input.flag() ? children + text : text + children) + "</\(element.name)>"
    }

    private static func varied(_ scalar: Unicode.Scalar, _ input: inout FuzzInput) -> String {
        let named: [Unicode.Scalar: String] = ["<": "lt", ">": "gt", "&": "amp", "\"": "quot", "'": "apos"]
        switch input.byte() % 4 {
        case 0: return "&#\(scalar.value);"
        case 1: return "&#x\(String(scalar.value, radix: 16, uppercase: input.flag()));"
        default: return named[scalar].map { "&\($0);" } ?? String(scalar)
        }
    }

    /// A text that the other reader of JSON accepts, too, has the same texts.
    @Sendable static func credentials(_ bytes: [UInt8]) throws {
        if let credentials = S3Credentials(json: bytes) {
            try require(!credentials.accessKey.isEmpty && !credentials.secretKey.isEmpty, "an empty key")
            try require(credentials.sessionToken != "", "an empty token")
            try checkSigned(credentials)
        }
        try expiry(bytes)
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

    /// A time of the years 1970 to 9999 (RFC 3339), made from the bytes.
    private static func expiry(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let number = { (range: ClosedRange<Int32>) in range.lowerBound + Int32(input.byte()) % Int32(range.count) }
        var time = tm()
        time.tm_year = (Int32(input.byte()) << 8 | Int32(input.byte())) % 8_030 + 70
        (time.tm_mon, time.tm_mday) = (number(0...11), number(1...28))
        (time.tm_hour, time.tm_min, time.tm_sec) = (number(0...23), number(0...59), number(0...59))
        let date = [time.tm_year + 1_900, time.tm_mon + 1, time.tm_mday].map(digits).joined(separator: "-")
        let clock = [time.tm_hour, time.tm_min, time.tm_sec].map(digits).joined(separator: ":")
        let fraction = input.choice(["", ".5", ".123456789"])
        let (hours, minutes, isWest) = (number(0...23), number(0...59), input.flag())
        let zone = input.flag() ? "Z" : (isWest ? "-" : "+") + digits(hours) + ":" + digits(minutes)
        let ahead = zone == "Z" ? 0 : Int64(hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
        let text = "\(date)T\(clock)\(fraction)\(zone)"
        let json = "{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\",\"Expiration\":\"\(text)\"}"
        let expected = Int64(timegm(&time)) - ahead
        try requireEqual(S3Credentials(json: Array(json.utf8))?.expires, expected, "the time \(text)")
    }

    private static func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
