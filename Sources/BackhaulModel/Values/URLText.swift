/// What can be told of a URL by its text alone; who reads URLs is the transport.
extension StringProtocol {
    /// Whether scheme, server and port are written alike. Other spellings of the same count as others.
    func hasAuthority(of other: some StringProtocol) -> Bool {
        schemeAndAuthority.elementsEqual(other.schemeAndAuthority)
    }

    private var schemeAndAuthority: [UInt8] {
        guard let mark = firstPosition(of: "://") else { return Array(utf8) }
        let start = utf8.index(mark, offsetBy: "://".utf8.count)
        let end = utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? utf8.endIndex
        return utf8[..<end].map(\.asciiLowercase)
    }

    var isEncryptedURL: Bool { utf8.prefix("https:".utf8.count).map(\.asciiLowercase) == Array("https:".utf8) }
}
