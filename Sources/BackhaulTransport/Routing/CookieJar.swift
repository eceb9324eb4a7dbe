public import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// The cookies of a session. libcurl stores and sends the cookies (RFC 6265). All calls are on the transport's thread.
///
/// Unsafe: libcurl's share handle lives until `deinit`. Each `EasyHandle` that uses the share handle retains this
/// `CookieJar`, so `deinit` does not run before the end of this use.
public final class CookieJar {
    let share: UnsafeMutableRawPointer
    /// An easy handle that only reads and writes the jar. It sends no requests.
    private let jarHandle: UnsafeMutableRawPointer
    /// Called when a server sets a cookie, before libcurl stores the cookie.
    public var onChange: () -> Void = {}
    /// The number of cookies that servers have set since the last call of `lines()`.
    public private(set) var newCookies = 0

    public init() throws(Failure) {
        guard let share = curl_share_init() else { throw CookieJar.noMemory }
        self.share = share
        guard let jarHandle = curl_easy_init() else {
            curl_share_cleanup(share)
            throw CookieJar.noMemory
        }
        self.jarHandle = jarHandle
        guard bhl_share_set(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE) == CURLSHE_OK,
            bhl_easy_set_share(jarHandle, share) == CURLE_OK
        else { throw Failure(.engineFailed, "libcurl is built without cookies; install one with them") }
    }

    deinit {
        curl_easy_cleanup(jarHandle)
        curl_share_cleanup(share)
    }

    private static var noMemory: Failure { Failure(.outOfResources, "no memory is left for cookies") }

    /// Notes that a response sets cookies.
    func noteCookies(_ count: Int) {
        guard count > 0 else { return }
        newCookies += count
        onChange()
    }

    /// Adds cookies, in the format of `lines()`. Expired cookies are ignored.
    public func add(_ lines: [String]) {
        for line in lines.compactMap(CookieLine.readable) where line.utf8.count <= CookieJar.lineLimit {
            bhl_easy_set_string(jarHandle, CURLOPT_COOKIELIST, line)
        }
    }

    /// Returns all cookies that have not expired, each as a line of Netscape's cookie file. If there are too many, the
    /// domains with the most cookies lose their oldest cookies.
    @discardableResult
    public func lines() -> [String] {
        newCookies = 0
        let now = Clock.wallMilliseconds / 1_000
        let all = list().compactMap(CookieLine.readable).filter { !CookieLine.hasExpired($0, now: now) }
        let kept = CookieLimits.kept(of: all)
        if kept.count < all.count {
            bhl_easy_set_string(jarHandle, CURLOPT_COOKIELIST, "ALL")
            add(kept)
        }
        return kept
    }

    private func list() -> [String] {
        // Unsafe: this function owns the list and frees it at its end. Before that, the texts of the list are copied.
        var first: UnsafeMutablePointer<curl_slist>?
        guard bhl_easy_get_list(jarHandle, CURLINFO_COOKIELIST, &first) == CURLE_OK else { return [] }
        defer { curl_slist_free_all(first) }
        var lines: [String] = []
        var next = first
        while let item = next {
            if let text = item.pointee.data { lines.append(String(cString: text)) }
            next = item.pointee.next
        }
        return lines
    }

    /// The largest size of a line, in bytes. The line of a server's cookie is shorter. libcurl accepts at most 4,096
    /// bytes for the name and value together. The domain and path of the cookie are not longer than a URL.
    private static let lineLimit = 64 * 1024
}

/// Reads a line of Netscape's cookie file.
public enum CookieLine {
    /// Returns whether the cookie has an expiry time. A cookie without an expiry time is lost when the engine, which is
    /// the process that runs the transfers, exits (RFC 6265, section 5.3).
    public static func outlivesEngine(_ line: String) -> Bool { field(line, 4).map { $0 != "0" } ?? false }

    /// Returns whether the cookie has expired at `now`, in Unix seconds. Until libcurl next checks its cookies, it also
    /// lists cookies that have expired or that a server has deleted.
    static func hasExpired(_ line: String, now: Int64) -> Bool {
        guard let expiry = field(line, 4).flatMap({ Int64($0) }), expiry != 0 else { return false }
        return expiry <= now
    }

    /// Returns a line for the same cookie that libcurl can read; nil if no host has the cookie's domain, or if a field
    /// is missing. libcurl reads a line such as `ALL` as a command, and a line that begins with `Set-Cookie:` as a
    /// header field. For libcurl, a line ends at a NUL. It skips empty fields, and takes the path `TRUE` or `FALSE` for
    /// the next field. It sends a cookie with such a path to all paths.
    static func readable(_ line: String) -> String? {
        let domain = domain(line)
        let name = domain.dropFirst(domain.hasPrefix(".") ? 1 : 0)
        guard let first = name.first, first != ".", first != "#", !line.utf8.contains(0),
            !line.utf8.prefix(11).map({ $0 | 0x20 }).elementsEqual("set-cookie:".utf8)
        else { return nil }
        var fields = fields(line, upTo: 6)
        guard fields.count > 6 else { return nil }
        guard ["", "TRUE", "FALSE"].contains(fields[2]) else { return line }
        fields[2] = "/"
        return fields.joined(separator: "\t")
    }

    static func domain(_ line: String) -> Substring {
        // If scripts must not read the cookie, libcurl writes a prefix before the domain: "#HttpOnly_example.org".
        let first = field(line, 0) ?? ""
        return first.hasPrefix("#HttpOnly_") ? first.dropFirst(10) : first
    }

    private static func field(_ line: String, _ index: Int) -> Substring? {
        let fields = fields(line, upTo: index)
        return fields.count > index ? fields[index] : nil
    }

    /// Returns the fields up to the one with this index, and the rest of the line. Splits bytes, because a split of
    /// characters is slow, and servers may set thousands of long cookies.
    private static func fields(_ line: String, upTo index: Int) -> [Substring] {
        line.utf8.split(separator: 0x09, maxSplits: index + 1, omittingEmptySubsequences: false).map { Substring($0) }
    }
}

/// The limits on a session's cookies. The limits on the number of cookies are at least as high as RFC 6265, section
/// 6.1, recommends.
enum CookieLimits {
    static let perDomain = 180
    static let all = 3_000
    static let bytes = 2 << 20

    /// Returns the cookies to keep. Each domain keeps its newest cookies, and domains with many cookies lose cookies
    /// first.
    static func kept(of lines: [String]) -> [String] {
        guard lines.count > perDomain || lines.reduce(0, { $0 + $1.utf8.count }) > bytes else { return lines }
        var byDomain: [Substring: [String]] = [:]
        for line in lines { byDomain[CookieLine.domain(line), default: []].append(line) }
        var limit = perDomain
        while true {
            byDomain = byDomain.mapValues { $0.suffix(limit) }
            let rest = byDomain.values
            let isSmall = rest.reduce(0, { $0 + $1.reduce(0, { $0 + $1.utf8.count }) }) <= bytes
            if isSmall, rest.reduce(0, { $0 + $1.count }) <= all || limit == 1 { break }
            if limit == 1 { return Array(rest.joined().suffix(all / 10)) }
            limit /= 2
        }
        return Array(byDomain.values.joined().prefix(all))
    }
}
