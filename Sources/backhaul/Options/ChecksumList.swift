import Backhaul
import enum BackhaulModel.ServerFileName

/// The lines of a file such as SHA256SUMS: checksums by file names, as sha256sum(1) and BSD's tools print them.
struct ChecksumList {
    private struct Line {
        /// The path as the file writes it, in its parts.
        let path: [Substring]
        let checksum: Checksum
    }

    /// The largest list that is read.
    static let largest: UInt64 = 64 << 20

    private let name: String
    private var lines: [String: [Line]] = [:]

    /// - Parameter name: The path or URL of the list, for messages.
    init(_ content: [UInt8], name: String) throws(CommandError) {
        self.name = name
        let text = String(decoding: content, as: UTF8.self)
        // Comments, signatures and checksums of other kinds are ignored: a file without a line is refused.
        for line in text.split(whereSeparator: \.isNewline) {
            guard let (path, checksum) = ChecksumList.parts(of: line),
                let file = ServerFileName.component(path)
            else { continue }
            lines[file, default: []].append(Line(path: path.split(separator: "/"), checksum: checksum))
        }
        if lines.isEmpty {
            throw .usage("\(name) has no checksums of SHA-256 or SHA-512, such as SHA256SUMS has")
        }
    }

    /// The checksum of the file with this URL.
    /// - Parameter file: The name of the local file. It counts if no line has the name in the URL.
    func checksum(of url: String, file: String?) throws(CommandError) -> Checksum {
        let names = [TransferName.file(of: url), file].compactMap { $0 }
        guard let found = names.lazy.compactMap({ lines[$0] }).first else {
            throw .usage("\(name) has no checksum of \(names[0])")
        }
        // Several directories may have files of this name. The path in the URL then selects one.
        let path = url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        let longest = found.map { ChecksumList.commonEnd($0.path, path) }.max() ?? 0
        let best = found.filter { ChecksumList.commonEnd($0.path, path) == longest }
        // A list may have checksums of both kinds.
        let strong = best.filter { if case .sha512 = $0.checksum { true } else { false } }
        let checksums = Set((strong.isEmpty ? best : strong).map(\.checksum))
        guard checksums.count == 1, let checksum = checksums.first else {
            throw .usage("\(name) has several checksums of \(names[0]); give the right one with --checksum")
        }
        return checksum
    }

    private static func commonEnd(_ one: [Substring], _ other: [Substring]) -> Int {
        zip(one.reversed(), other.reversed()).prefix { $0.0 == $0.1 }.count
    }

    /// The path and the checksum of a line such as "DIGITS *a.iso" or "SHA256 (a.iso) = DIGITS".
    private static func parts(of line: Substring) -> (path: String, checksum: Checksum)? {
        // Other algorithms have as many digits, such as SHA512/256. A name in a line of GNU may also have parentheses.
        if let open = line.firstRange(of: " ("), ["SHA256", "SHA512"].contains(line[..<open.lowerBound]),
            let end = line.ranges(of: ") = ").last, open.upperBound <= end.lowerBound
        {
            let path = String(line[open.upperBound..<end.lowerBound])
            return Checksum(digits: String(line[end.upperBound...])).map { (path, $0) }
        }
        // GNU writes a backslash before a line whose name has escapes.
        let isEscaped = line.hasPrefix("\\")
        let rest = isEscaped ? line.dropFirst() : line
        let digits = rest.prefix { $0.isHexDigit }
        let mark = rest[digits.endIndex...].prefix(2)
        guard mark == "  " || mark == " *" else { return nil }
        let name = String(rest[mark.endIndex...])
        return Checksum(digits: String(digits)).map { (isEscaped ? unescaped(name) : name, $0) }
    }

    private static func unescaped(_ name: String) -> String {
        var (result, rest) = ("", name[...])
        while let first = rest.popFirst() {
            guard first == "\\", let escaped = rest.popFirst() else {
                result.append(first)
                continue
            }
            result.append(escaped == "n" ? "\n" : escaped == "r" ? "\r" : escaped)
        }
        return result
    }
}
