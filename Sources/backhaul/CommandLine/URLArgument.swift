/// A URL from the command line. The URL may be invalid.
struct URLArgument {
    /// The URL without its user name and password.
    let redacted: String
    /// What is wrong, and what to write instead. Nil if the URL has no common mistake: the library reports all other
    /// errors.
    let advice: String?

    init(_ text: String) {
        // Any number of slashes is accepted, so that the password is removed from a mistyped URL, too.
        let isWeb = ["http:", "https:"].contains { text.lowercased().hasPrefix($0) }
        let colon = isWeb ? text.firstIndex(of: ":") : text.firstRange(of: "://")?.lowerBound
        let server = colon.map { text[$0...].dropFirst().drop { $0 == "/" }.startIndex } ?? text.startIndex
        let end = text[server...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let user = text[server..<end].lastIndex(of: "@")
        let rest = user.map { text[text.index(after: $0)...] } ?? text[server...]
        redacted = String(text[..<server] + rest)
        if colon == nil && !rest.isEmpty {
            advice = "this is no URL, because it begins with no scheme; write https://\(rest)"
        } else if user != nil {
            advice =
                "a URL has no user and no password here, because listings and logs show it; leave them out, and "
                + "when the server asks, type them at the terminal or run `backhaul respond CHALLENGE --user NAME`"
        } else {
            advice = nil
        }
    }
}
