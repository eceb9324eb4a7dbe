/// Recognises pages that come in place of a file, or in place of the response to an upload, such as the login page to
/// which a server redirects.
public enum PageSuspicion {
    /// The endings of names of files that are no pages.
    private static let fileSuffixes: Set<Substring> = [
        "7z", "aac", "apk", "appimage", "avi", "bin", "bz2", "deb", "dmg", "exe", "flac", "gz", "img", "iso", "jar",
        "jpeg", "jpg", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "msi", "ogg", "opus", "pdf", "png", "rar", "rpm",
        "squashfs", "tar", "tgz", "wav", "webm", "webp", "xz", "zip", "zst",
    ]
    /// Words in the host name or the path of login pages.
    private static let loginWords: Set<Substring> = [
        "login", "logon", "signin", "sign-in", "sign_in", "oauth", "oauth2", "sso", "saml",
    ]
    /// Words in the host name of login pages. In a path, they may also be the subject of a page.
    private static let loginHostWords: Set<Substring> = ["auth", "account", "accounts", "session"]

    /// Whether a redirect to another origin has probably led to a page in place of the file. A page from the origin of
    /// the URL is never suspicious. A page from another origin is suspicious in two cases: a part of the file came from
    /// elsewhere, or the name in the URL ends like the name of a file that is no page. After a refresh of the URL, the
    /// origin of the part is not known.
    static func isSuspicious(_ head: ResponseHead, of url: String, _ known: Checkpoint?) -> Bool {
        guard head.finalURL != url, head.isPage, !head.finalURL.hasAuthority(of: url) else { return false }
        if let known, !known.finalURL.isEmpty, !known.finalURL.hasAuthority(of: head.finalURL) { return true }
        return isFile(url)
    }

    /// Whether the server has redirected the request to a login page.
    static func isLogin(_ head: ResponseHead, of url: String) -> Bool {
        head.finalURL != url && head.isSuccess && head.isPage
            && (!isLoginURL(url) && isLoginURL(head.finalURL) || isSuspicious(head, of: url, nil))
    }

    /// The failure of an upload that was redirected to a page; nil if the response may report the upload's success.
    /// Two pages do not report it: a login page, and a page of another host with status 200. Portals send such a page
    /// in response to any request.
    static func refusal(ofUpload head: ResponseHead, to url: String) -> Failure? {
        let isElsewhere = head.status == 200 && head.isPage && authority(head.finalURL) != authority(url)
        guard isLogin(head, of: url) || isElsewhere else { return nil }
        return failure(head, "in place of the response to the upload")
    }

    /// The failure of a response that is probably a page. `place`: what the page replaces.
    static func failure(_ head: ResponseHead, _ place: String) -> Failure {
        Failure(
            .unexpectedType,
            "a redirect led to \(head.finalURL.withoutQuery), which sent a page \(place), perhaps because a login is "
                + "needed; to accept the page, list its media type, text/html, in accepted_types")
    }

    private static func isFile(_ url: String) -> Bool {
        let name = place(url).split(separator: "/").dropFirst().last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return false }
        return fileSuffixes.contains(Substring(name[name.index(after: dot)...].lowercased()))
    }

    private static func isLoginURL(_ url: String) -> Bool {
        let isSeparator = { (character: Character) in "/.:".contains(character) }
        return place(url).lowercased().split(whereSeparator: isSeparator).contains { loginWords.contains($0) }
            || authority(url).split(whereSeparator: isSeparator).contains { loginHostWords.contains($0) }
    }

    /// The host and the path of the URL.
    private static func place(_ url: String) -> Substring {
        url.withoutQuery.drop { $0 != "/" }.drop { $0 == "/" }
    }

    /// The host and the port of the URL. The scheme is left out, because many servers redirect from http to https.
    private static func authority(_ url: String) -> String {
        place(url).prefix { $0 != "/" }.split(separator: "@").last?.lowercased() ?? ""
    }
}

extension TransferPolicy {
    /// Whether the policy names the media type of the response.
    func acceptsType(of head: ResponseHead) -> Bool {
        self.acceptedTypes.flatMap(MediaRanges.init)?.contain(head.plainText("Content-Type")) == true
    }
}

extension ResponseHead {
    /// Whether the response is a page of a web site.
    fileprivate var isPage: Bool {
        guard let type = plainText("Content-Type")?.prefix(while: { $0 != ";" && $0 != " " }).lowercased() else {
            return false
        }
        return type == "text/html" || type == "application/xhtml+xml"
    }
}
