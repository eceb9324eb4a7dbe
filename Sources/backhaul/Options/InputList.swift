/// The URLs of a list: one on each line, with indented options below it as in aria2's lists, or as JSON lines.
struct InputList {
    private(set) var items: [DownloadItem] = []
    /// What is wrong with the other lines, with their positions.
    private(set) var problems: [String] = []
    private(set) var notes: [String] = []
    /// To what an indented option belongs.
    private enum Owner { case nothing, item, invalidItem }
    private var owner = Owner.nothing

    /// - Parameter file: The path of the list. '-' means standard input.
    init(_ file: String) throws(CommandError) {
        if file.contains("://") {
            throw .usage("--input takes a file with URLs, not '\(file)'; give a URL as an argument")
        }
        let bytes = try InputFile.content(file)
        let name = InputFile.name(file)
        guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]) else {
            throw .usage("\(name) is in UTF-16; convert it to UTF-8: iconv -f UTF-16 -t UTF-8 FILE")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        // A line break of Windows, CR LF, is one Character.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: isLineBreak).enumerated() {
            let words = InputFile.trimmed(line)
            if words.isEmpty || words.hasPrefix("#") { continue }
            let place = "\(name):\(index + 1)"
            do throws(CommandError) {
                try read(words, isIndented: line.first == " " || line.first == "\t", place)
            } catch {
                owner = .invalidItem
                if case .usage(let problem) = error { problems.append("\(place): \(problem)") }
            }
        }
    }

    private mutating func read(_ line: String, isIndented: Bool, _ place: String) throws(CommandError) {
        if line.unicodeScalars.contains("\u{FFFD}") {
            throw .usage("\(URLArgument(line).redacted): the line is not valid UTF-8")
        }
        if isIndented, let (option, value) = InputList.option(line) {
            switch owner {
            case .nothing: throw .usage("the option '\(option)' is below no URL; an option follows its URL")
            // One message is enough.
            case .invalidItem: return
            case .item: break
            }
            do throws(CommandError) {
                try items[items.count - 1].apply(option, value)
            } catch {
                // Without its option, the file could be a wrong one.
                items.removeLast()
                throw error
            }
            return
        }
        if line.hasPrefix("{") {
            let item = try DownloadItem(json: line, place: place)
            try InputList.check(item.url)
            items.append(item)
            owner = .nothing
            return
        }
        let urls = line.split(separator: "\t").map { InputFile.trimmed($0) }
        let hasMirrors = urls.count > 1 && urls.allSatisfy { $0.contains("://") }
        let url = hasMirrors ? urls[0] : line
        try InputList.check(url)
        if hasMirrors {
            notes.append("\(place): the first of \(urls.count) URLs is used; the others are not tried")
        }
        items.append(DownloadItem(url: url, place: place))
        owner = .item
    }

    /// Parses a line such as "out=b". Nil for a URL, which may be indented, too.
    private static func option(_ line: String) -> (name: String, value: String)? {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        let name = line[..<equals]
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }) else {
            return nil
        }
        return (String(name), String(line[line.index(after: equals)...]))
    }

    private static func check(_ url: String) throws(CommandError) {
        if let problem = problem(url) { throw .usage("\(URLArgument(url).redacted): \(problem)") }
    }

    /// What is wrong with the URL. Nil if it has no mistake that is common in lists. The library finds all mistakes,
    /// but one call reports only the first one, and the next call checks all lines again.
    private static func problem(_ url: String) -> String? {
        if let bad = url.unicodeScalars.first(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
            if bad == " " { return "the URL contains a space; write it as %20, or give one URL a line" }
            let digits = String(bad.value + 0x10000, radix: 16).suffix(4)
            return "the URL contains the control character U+\(digits); remove it"
        }
        if let advice = URLArgument(url).advice { return advice }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        if ["https", "http", "s3"].contains(scheme) { return nil }
        return "the URL has the scheme \(scheme.prefix(32)), which is not supported; use https or http"
    }
}

private func isLineBreak(_ character: Character) -> Bool { ["\n", "\r", "\r\n"].contains(character) }
