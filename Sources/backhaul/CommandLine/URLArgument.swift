import struct BackhaulModel.ShownURL

/// A URL from the command line. The URL may be invalid.
struct URLArgument {
    /// The URL without its user name and password.
    let redacted: String
    /// What is wrong, and what to write instead. Nil if the URL has no common mistake: the library reports all other
    /// errors.
    let advice: String?

    init(_ text: String) {
        let url = ShownURL(text)
        redacted = url.text
        if !url.hasScheme && !url.rest.isEmpty {
            advice = "this is no URL, because it begins with no scheme; write https://\(url.rest)"
        } else if url.hasUser {
            advice =
                "a URL has no user and no password here, because listings and logs show it; leave them out, and "
                + "when the server asks, type them at the terminal or run `backhaul respond CHALLENGE --user NAME`"
        } else {
            advice = nil
        }
    }

    /// Whether requests for the URL are sent without encryption.
    static func isUnencrypted(_ url: String) -> Bool { url.lowercased().hasPrefix("http://") }
}
