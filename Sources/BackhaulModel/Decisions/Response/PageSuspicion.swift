/// Recognises pages that come in place of a file, such as the login page to which a server redirects.
public enum PageSuspicion {
    /// The endings of names of files that are no pages.
    private static let fileSuffixes: Set<Substring> = [
        "7z", "aac", "apk", "appimage", "avi", "bin", "bz2", "deb", "dmg", "exe", "flac", "gz", "img", "iso", "jar",
        "jpeg", "jpg", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "msi", "ogg", "opus", "pdf", "png", "rar", "rpm",
        "squashfs", "tar", "tgz", "wav", "webm", "webp", "xz", "zip", "zst",
    ]
    /// Words in the host name or the path of login pages.
    private static let loginWords: Set<Substring> = [
        "login", "logon", "signin", "sign-in", "sign_in", "auth", "oauth", "oauth2", "sso", "account", "accounts",
        "session", "saml",
    ]

    /// Whether a redirect to another origin has probably led to a page in place of the file. A page from the origin of
    /// the URL is never suspicious. A page from another origin is suspicious in two cases: a part of the file came from
    /// elsewhere, or the name in the URL ends like the name of a file that is no page.
    static func isSuspicious(_ head: ResponseHead, of url: String, _ known: Checkpoint?) -> Bool {
        guard head.finalURL != url, head.isPage, !head.finalURL.hasAuthority(of: url) else { return false }
        if let known, !known.finalURL.hasAuthority(of: head.finalURL) { return true }
        return isFile(url)
    }

    /// Whether the server has redirected the request to a login page.
    static func isLogin(_ head: ResponseHead, of url: String) -> Bool {
        head.finalURL != url && (200...299).contains(head.status) && head.isPage
            && (!isLoginURL(url) && isLoginURL(head.finalURL) || isSuspicious(head, of: url, nil))
    }

    private static func isFile(_ url: String) -> Bool {
        let name = place(url).split(separator: "/").dropFirst().last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return false }
        return fileSuffixes.contains(Substring(name[name.index(after: dot)...].lowercased()))
    }

    private static func isLoginURL(_ url: String) -> Bool {
        place(url).lowercased().split { $0 == "/" || $0 == "." || $0 == ":" }.contains { loginWords.contains($0) }
    }

    /// The host and the path of the URL.
    private static func place(_ url: String) -> Substring {
        url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "?" && $0 != "#" }
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
