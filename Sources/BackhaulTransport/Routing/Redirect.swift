internal import BackhaulModel

/// The next request after a redirect. The transport follows redirects itself, because libcurl would also send the
/// request's own header fields to the next server.
struct Redirect: Equatable {
    var url: String
    var origin: Origin
    /// Whether the next request has the header fields of the original request. False after a redirect to another
    /// origin. It stays false if a later redirect leads back to the first origin, because the other origin has chosen
    /// that URL.
    var keepsHeaders: Bool

    /// Returns the Location field of a redirect (RFC 9110, section 15.4), or nil if the head is not a redirect.
    static func location(_ head: HeadCollector) -> [UInt8]? {
        switch head.status {
        case 300, 301, 302, 303, 307, 308: head.allBytes("Location").first.flatMap { $0.isEmpty ? nil : $0 }
        default: nil
        }
    }

    /// Returns the failure if the head has several different Location fields; otherwise nil.
    static func contradiction(_ head: HeadCollector, at origin: Origin) -> Failure? {
        guard Set(head.allBytes("Location")).count > 1 else { return nil }
        return refused("\(origin.text) redirects to two places at once")
    }

    /// - count: the number of redirects that the transfer has followed so far.
    /// - dropsCookies: whether the response sets a cookie, and the transfer has no cookie jar. Some sites redirect
    /// until the client sends the cookie.
    static func decide(
        _ location: [UInt8], from url: String, _ origin: Origin, keepsHeaders: Bool, count: Int, limit: Int,
        policy: RedirectPolicy = .follow, dropsCookies: Bool = false, without secrets: SecretRedactor = SecretRedactor()
    ) throws(Failure) -> Redirect {
        guard count < limit else {
            let advice = "; it sets cookies, and cookies is BH_COOKIES_NONE; choose another value to send them back"
            throw refused(
                "\(origin.text) redirects once more after \(count) redirects; the limit is \(limit)"
                    + (dropsCookies ? advice : ""))
        }
        let next: (url: String, origin: Origin)
        do throws(Failure) {
            next = try URLParser.resolve(location, against: url)
        } catch {
            // A query may contain a signature or a token.
            let text = ResponseField("Location", secrets.redactedMessage(location)).plainText
            let target = PlainText.of(ShownURL(text).shortened, atMost: 200)
            let reason = secrets.redactedMessage(error.message)
            throw refused("\(origin.text) redirects to \(target), which is not followed: \(reason)")
        }
        guard origin.scheme == "http" || next.origin.scheme == "https" else {
            throw refused("\(origin.text) redirects to \(next.origin.text), which would give up the encryption")
        }
        guard policy != .sameOrigin || next.origin == origin else {
            throw refused(
                "\(origin.text) redirects to \(next.origin.text), but only redirects to the same origin are followed")
        }
        return Redirect(url: next.url, origin: next.origin, keepsHeaders: keepsHeaders && next.origin == origin)
    }

    private static func refused(_ message: String) -> Failure { Failure(.redirectRefused, message) }
}
