/// Options of curl, wget and aria2 that people type from habit. Some of them ask for what Backhaul does anyway, so they
/// are accepted. For the others, a message names what to use instead.
enum CurlOptions {
    /// Options without an effect, because they ask for what is done anyway. `--silent` is another word for `--quiet`.
    private static let accepted = [
        option("location", "L"), option("fail", "f"), option("fail-with-body"), option("show-error", "S"),
        option("silent", "s"), option("progress-bar", "#"), option("parallel", "Z"), option("anyauth"),
        option("retry-connrefused"), option("retry-all-errors"),
    ]
    private static let acceptedDownloads = [
        option("remote-name", "O"), option("remote-name-all"), option("continue-at", "C", "OFFSET"),
        option("continue", "c"),
    ]

    /// Options that are refused, with what to do instead.
    private static let refused = [
        option("insecure", "k", advice: "certificates are always verified; --cacert FILE trusts your own"),
        option("head", "I", advice: "`backhaul attempts TASK` shows the status of each response"),
        option("verbose", "v", advice: "`backhaul attempts TASK` and `backhaul why TASK` explain a transfer"),
        option("include", advice: "`backhaul attempts TASK` shows the status of each response"),
        option("dump-header", "D", "FILE", advice: "`backhaul attempts TASK` shows the status of each response"),
        option("write-out", "w", "FORMAT", advice: "--json prints the result for programs"),
        option("user-agent", "A", "NAME", advice: "write -H 'User-Agent: NAME'"),
        option("referer", "e", "URL", advice: "write -H 'Referer: URL'"),
        option("cookie", "b", "DATA", advice: "write -H 'Cookie: NAME=VALUE'; see also --cookie-jar"),
        option("config", "K", "FILE", advice: "~/.config/backhaul/config has defaults of options"),
        option("data", nil, "DATA", advice: "write --data-binary DATA"),
        option("data-raw", nil, "DATA", advice: "write --data-binary DATA"),
        option("get", "G", advice: "write the query into the URL"),
        option("connect-timeout", nil, "SECONDS", advice: "--request-timeout is the longest time without a byte"),
        option("speed-limit", "Y", "BYTES", advice: "--minimum-rate pauses slower transfers"),
        option("speed-time", "y", "SECONDS", advice: "--slow-after is the time before such a pause"),
        option("output-dir", nil, "DIRECTORY", advice: "write --directory DIRECTORY"),
        option("no-clobber", advice: "existing files stay anyway; --skip-existing fetches the others"),
        option("oauth2-bearer", nil, "TOKEN", advice: "write the header in a file: --header-file FILE"),
        option("url", nil, "URL", advice: "give the URL as an argument"),
        option("compressed", advice: "files are stored as the server has them"),
        option("ipv4", "4", advice: "all addresses of the server are tried"),
        option("ipv6", "6", advice: "all addresses of the server are tried"),
        option("remote-time", "R", advice: "a file has the time of its download"),
        option("resolve", nil, "HOST:PORT:ADDRESS", advice: "write the address into /etc/hosts"),
    ]
    private static let onlyURLs = "only the given URLs are fetched; --input FILE reads many of them from a list"

    /// The same for options of wget and aria2.
    private static let refusedOfOthers = [
        option("out", nil, "FILE", advice: "write --output FILE"),
        option("directory-prefix", "P", "DIRECTORY", advice: "write --directory DIRECTORY"),
        option("split", nil, "NUMBER", advice: "a file comes over one connection"),
        option(
            "max-connection-per-server", nil, "NUMBER", advice: "--connections NUMBER limits connections to a server"),
        option("max-concurrent-downloads", "j", "NUMBER", advice: "write --parallel-max NUMBER"),
        option("all-proxy", nil, "URL", advice: "write --proxy URL"),
        option("ca-certificate", nil, "FILE", advice: "write --cacert FILE"),
        option("no-check-certificate", advice: "certificates are always verified; --cacert FILE trusts your own"),
        option("max-download-limit", nil, "BYTES", advice: "write --limit-rate BYTES"),
        option(
            "max-overall-download-limit", nil, "BYTES", advice: "write `backhaul limits set --limit-rate BYTES`"),
        option("tries", "t", "NUMBER", advice: "--retry NUMBER limits the retries"),
        option("max-tries", nil, "NUMBER", advice: "--retry NUMBER limits the retries"),
        option("retry-wait", nil, "SECONDS", advice: "write --retry-delay SECONDS"),
        option("waitretry", nil, "SECONDS", advice: "write --retry-delay SECONDS"),
        option("recursive", advice: onlyURLs), option("mirror", advice: onlyURLs),
        option("page-requisites", advice: onlyURLs), option("level", nil, "NUMBER", advice: onlyURLs),
        option("no-parent", advice: onlyURLs), option("accept", nil, "LIST", advice: onlyURLs),
        option("reject", nil, "LIST", advice: onlyURLs),
        option("resume", advice: "transfers continue where they stopped; `backhaul resume` ends a suspension"),
        option("timestamping", advice: "write --if-changed"),
        option("conditional-get", nil, "BOOLEAN", advice: "write --if-changed"),
        option("allow-overwrite", nil, "BOOLEAN", advice: "write --if-exists replace"),
        option("auto-file-renaming", nil, "BOOLEAN", advice: "existing files stay; see --if-exists"),
        option("content-disposition", advice: "write --remote-header-name"),
        option("output-document", nil, "FILE", advice: "write --output FILE"),
        option("input-file", nil, "FILE", advice: "write --input FILE"),
        option("dir", nil, "DIRECTORY", advice: "write --directory DIRECTORY"),
        option("load-cookies", nil, "FILE", advice: "write -H 'Cookie: NAME=VALUE'; see also --cookie-jar"),
        option("save-cookies", nil, "FILE", advice: "--cookie-jar sets where the session's cookies live"),
        option("post-data", nil, "DATA", advice: "write --data-binary DATA"),
        option("post-file", nil, "FILE", advice: "write --data-binary @FILE"),
        option("http-user", nil, "NAME", advice: "write --user NAME"),
        option("http-password", nil, "PASSWORD", advice: "write --user NAME; the password is asked for"),
        option("http-passwd", nil, "PASSWORD", advice: "write --user NAME; the password is asked for"),
        option("lowest-speed-limit", nil, "BYTES", advice: "--minimum-rate pauses slower transfers"),
        option("background", advice: "`backhaul add` enqueues downloads and does not wait for them"),
        option("spider", advice: "every transfer fetches its file; curl -I only asks for it"),
    ]

    static let descriptions = accepted + refused
    static let downloadDescriptions = acceptedDownloads + refusedOfOthers
    /// For downloads, -d is --directory.
    static let uploadDescriptions = [
        option("data-ascii", "d", "DATA", advice: "write --data-binary DATA")
    ]

    /// Throws if a refused option is given.
    static func check(_ arguments: Arguments) throws(CommandError) {
        for (options, owner) in [(refused + uploadDescriptions, "curl"), (refusedOfOthers, "wget or aria2")] {
            guard let option = options.first(where: { arguments.has($0.name) }) else { continue }
            let letter = option.letter.map { " (-\($0))" } ?? ""
            throw .usage("--\(option.name)\(letter) is an option of \(owner) only: \(option.help)")
        }
        if let offset = arguments.value("continue-at"), offset != "-" {
            throw .usage("--continue-at takes only -, because the engine knows where a transfer continues")
        }
        let name = ["remote-name", "remote-name-all"].first(where: arguments.has)
        if let name, arguments.has("output") { throw .usage("--output and --\(name) exclude each other") }
    }

    private static func option(
        _ name: String, _ letter: Character? = nil, _ argument: String? = nil, advice: String = ""
    ) -> OptionDescription {
        OptionDescription(name, letter, argument, advice, isShown: false)
    }
}
