import Backhaul
import Glibc

/// In messages of the library, replaces the names of fields and constants of the C header by the words of the command
/// line.
enum OptionNaming {
    /// Phrases with constants. They are replaced first.
    private static let phrases = [
        ("redirects is BH_REDIRECTS_NONE", "--redirects is none"),
        ("cookies is BH_COOKIES_NONE", "--cookie-jar is none"),
        (
            "has a file or parts as its body; give bytes from memory",
            "has a file or a form as its body; give --data-binary DATA"
        ), ("a checksum or an expected_size", "--checksum or --size"),
        ("a range_start or a range_size", "--range"), ("range_start and range_size", "--range"),
        ("range_start or range_size", "--range"),
        ("if_exists BH_IF_EXISTS_REPLACE", "--if-exists replace"), ("choose BH_HOSTING_EMBEDDED", "give --embedded"),
        ("give BH_HOSTING_DEFAULT, and run workers", "omit --embedded, and run workers"),
        ("set tolerances to BH_TOLERATE_MISSING_CLOSE_NOTIFY", "give --tolerate missing_close_notify"),
        ("set tolerances to BH_TOLERATE_EARLY_RESPONSE", "give --tolerate early_response"),
        ("the application identifier", "--application"), ("the launch's environment", "--environment"),
        ("the URL cannot be read", "the URL is invalid"), (", which no listing shows", ", which no command shows"),
        ("set asks_for_credentials of the stored configuration", "give --credentials ask"),
    ]

    /// Fields and their options, and constants and their words. A field of several structs is a path in messages, such
    /// as `proxy.url`.
    private static let fields = Dictionary(
        [
            ("if_fails", "--after-failure"), ("BH_DEPENDENCY_FAILURE_IGNORE", "ignore"),
            ("expected_size", "--size"), ("range_size", "the size of --range"),
            ("earliest_start_ms", "--earliest-start"), ("latest_start_ms", "--latest-start"),
            ("expires_ms", "--expires-in"), ("response.expires_ms", "--expires-in"), ("interval_ms", "--every"),
            ("tolerance_ms", "--tolerance"), ("first_ms", "--first"), ("month_starts_on", "--month-starts-on"),
            ("if_exists", "--if-exists"), ("body_source", "--body-source"), ("body_file", "the path of the file"),
            ("response.url", "--url"), ("response.user", "--user"), ("response.password", "the password"),
            ("response.headers", "--header"), ("configuration.identifier", "--session"),
            ("activity.identifier", "the name of the activity"), ("options.identifier", "--application"),
            ("options.store", "--store"), ("options.daemon", "--daemon"),
            ("network.name", "the name of the network"), ("user_data", "the data of the program"),
            ("BH_RETRY_NONE", "none"), ("BH_IF_EXISTS_SKIP", "skip"), ("BH_REDIRECTS_NONE", "none"),
            ("BH_REQUEST_IF_CHANGED", "--if-changed"), ("BH_REQUEST_NAMED_BY_SERVER", "--remote-header-name"),
            ("media_type", ";type"), ("file_name", ";filename"),
            ("launch.working_directory", "--working-directory"), ("launch.program", "the program"),
            ("selection.group", "--group"),
        ] + settings, uniquingKeysWith: { first, _ in first })

    /// Fields whose names are ordinary words. They are replaced only if they are the subject of the message.
    private static let subjects = [
        "after": "--after",
        "url": "the URL", "method": "--request", "group": "--group", "headers": "--header", "checksum": "--checksum",
        "destination": "the path of the file", "body": "the body",
    ]

    /// The settings, by their paths and by their names. Names without an underscore are left out, because they may be
    /// ordinary words of a message. Of the names without a struct, only durations are included: the limits of the store
    /// have fields with the same names as the other ones.
    private static let settings = Setting.all.flatMap { setting in
        let path = setting.field.split(separator: ".").map(String.init)
        let names = [setting.field, path[path.count - 1]].filter { name in
            path.count == 1 ? name.hasSuffix("_ms") : name.contains("_") || name.contains(".")
        }
        return setting.options.isEmpty ? [] : names.map { ($0, setting.words) }
    }

    static func spoken(_ message: String) -> String {
        // Most messages have no phrase, and a listing may have 100,000 messages. strstr(3) needs less time than
        // `replacing`.
        var rest = phrases.reduce(message) { strstr($0, $1.0) == nil ? $0 : $0.replacing($1.0, with: $1.1) }[...]
        var result = ""
        while let first = rest.first {
            let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
            guard !word.isEmpty, first != "." else {
                result.append(rest.removeFirst())
                continue
            }
            // A point at the end of a word ends the sentence.
            let name = String(word.hasSuffix(".") ? word.dropLast() : word)
            let isName = result.isEmpty || result.last == " " || result.last == "("
            // The library names `rules.request_timeout_ms`; the table has the name without the struct.
            let short = name.split(separator: ".").last.map(String.init) ?? name
            let found = isName ? (result.isEmpty ? subjects[name] : nil) ?? fields[name] ?? fields[short] : nil
            result += (found ?? name) + word.dropFirst(name.count)
            rest = rest.dropFirst(word.count)
        }
        return result
    }
}
