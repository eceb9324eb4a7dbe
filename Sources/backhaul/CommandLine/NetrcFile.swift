/// A netrc file: user names and passwords by host. It is read by curl's rules: the first entry that matches counts,
/// `default` matches every host, and a token may be quoted. The command reads it, because the daemon may run with
/// another home directory. libcurl has no function that only reads the file.
struct NetrcFile {
    private struct Entry {
        /// Nil for the entry `default`.
        let host: String?
        var user: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// - Parameter isOptional: Whether the file may be missing.
    init(_ path: String, isOptional: Bool) throws(CommandError) {
        if isOptional && !Paths.exists(path) { return }
        guard let text = String(validating: try InputFile.content(path), as: UTF8.self) else {
            throw .usage("\(path) is not valid UTF-8")
        }
        try parse(text, path)
        if entries.contains(where: { $0.password != nil }) { try PrivateFile.check(path) }
    }

    /// The file that curl reads without `--netrc-file`.
    static func defaultPath() throws(CommandError) -> String {
        if let path = environment("NETRC") { return path }
        guard let home = environment("HOME") else {
            throw .usage("HOME is not set, so ~/.netrc is not known; name the file with --netrc-file")
        }
        return Paths.join(home, ".netrc")
    }

    /// The user and password for a host. Nil if no entry has both.
    func credential(for host: String) -> (user: String, password: String)? {
        for entry in entries where entry.host == nil || entry.host?.lowercased() == host.lowercased() {
            if let user = entry.user, let password = entry.password { return (user, password) }
        }
        return nil
    }

    private mutating func parse(_ text: String, _ path: String) throws(CommandError) {
        var isInMacro = false
        var keyword: String?
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            if isInMacro {
                isInMacro = !line.isEmpty
                continue
            }
            guard let tokens = NetrcFile.tokens(of: line) else {
                throw .usage("\(path):\(number + 1): a quotation mark has no end; write \\\" for one in a value")
            }
            for token in tokens {
                if let last = keyword {
                    keyword = nil
                    take(last, token)
                } else if token == "macdef" {
                    isInMacro = true
                    break
                } else if token == "default" {
                    entries.append(Entry(host: nil))
                } else if ["machine", "login", "password", "account"].contains(token) {
                    keyword = token
                }
            }
        }
    }

    private mutating func take(_ keyword: String, _ value: String) {
        if keyword == "machine" { entries.append(Entry(host: value)) }
        guard !entries.isEmpty else { return }
        if keyword == "login" { entries[entries.count - 1].user = value }
        if keyword == "password" { entries[entries.count - 1].password = value }
    }

    /// The words of a line, up to a comment. Nil if a quotation mark has no end.
    private static func tokens(of line: Substring) -> [String]? {
        var tokens: [String] = []
        // A quotation mark and a combining mark after it are one Character.
        var rest = line.unicodeScalars
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard let first = rest.first, first != "#" else { return tokens }
            if first == "\"" {
                guard let token = quoted(&rest) else { return nil }
                tokens.append(token)
            } else {
                let token = rest.prefix { $0 != " " && $0 != "\t" }
                tokens.append(String(token))
                rest = rest[token.endIndex...]
            }
        }
    }

    private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
        let escapes: [Unicode.Scalar: Unicode.Scalar] = ["n": "\n", "r": "\r", "t": "\t"]
        var token = String.UnicodeScalarView()
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(token)
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                token.append(escapes[escaped] ?? escaped)
            default: token.append(scalar)
            }
        }
        return nil
    }
}
