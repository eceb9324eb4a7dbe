import BackhaulModel
import BackhaulStore
import CLinux
import Glibc

/// The options of the daemon's command line.
struct Options {
    enum Parsed {
        case run(Options)
        case repair(Options)
        case help
        case version
        case invalid(String)
    }

    /// The absolute path of the store, the directory with all data of the daemon. Nil stands for the user's default
    /// store.
    var store: String?
    /// How long an idle daemon waits before it exits, in milliseconds.
    var lingerMilliseconds: Int64 = 2_000
    /// Where the daemon serves its metrics; nil: nowhere.
    var metricsAddress: MetricsAddress?

    static let help = """
        Usage: backhauld [--store PATH] [--linger MILLISECONDS] [--metrics ADDRESS]
               backhauld --repair [--store PATH]

        Runs the transfers of one user's programs. The library libbackhaul starts it when it is needed, and it continues
        when these programs end. It exits by itself when nothing is left to do. If another engine serves the store
        already, it exits immediately with success.

          --store PATH           the store's directory, an absolute path
                                 (default: $BACKHAUL_STORE, $XDG_STATE_HOME/backhaul or ~/.local/state/backhaul)
          --linger MILLISECONDS  exit after this long without anything to do (default: 2000)
          --metrics ADDRESS      serve metrics for Prometheus over HTTP, at unix:PATH, 127.0.0.1:PORT or [::1]:PORT
                                 (default: off)
          --repair               save what can be read of a damaged database, report what is lost, and exit
          --version              show the version
          --help                 show this help

        SIGTERM and SIGINT: save the received bytes within a second, and exit. Any other end loses no transfer either:
        the next daemon continues it.

        """

    static func parse(_ words: [String]) -> Parsed {
        var (options, repairs) = (Options(), false)
        // Unsafe: the copies live as long as the process, as argv itself does. getopt_long reorders the copies.
        let arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 1)
        for (index, word) in words.enumerated() { (arguments + index).initialize(to: strdup(word)) }
        (arguments + words.count).initialize(to: nil)
        let known = [
            option(name: strdup("store"), has_arg: required_argument, flag: nil, val: 1),
            option(name: strdup("linger"), has_arg: required_argument, flag: nil, val: 2),
            option(name: strdup("version"), has_arg: no_argument, flag: nil, val: 3),
            option(name: strdup("help"), has_arg: no_argument, flag: nil, val: 4),
            option(name: strdup("repair"), has_arg: no_argument, flag: nil, val: 5),
            option(name: strdup("metrics"), has_arg: required_argument, flag: nil, val: 6),
            option(),
        ]
        while true {
            let found = bhl_next_option(Int32(words.count), arguments, "", known)
            let value = found.argument.map { String(cString: $0) } ?? ""
            switch found.code {
            case 1:
                guard value.utf8.first == UInt8(ascii: "/") else {
                    return .invalid("--store takes an absolute path; '\(value)' does not begin with a slash")
                }
                options.store = value
            case 2:
                guard let number = Int64(value), (0...86_400_000).contains(number) else {
                    return .invalid("--linger takes a whole number from 0 to 86400000, not '\(value)'.")
                }
                options.lingerMilliseconds = number
            case 3: return .version
            case 4: return .help
            case 5: repairs = true
            case 6:
                do throws(Failure) {
                    options.metricsAddress = try MetricsAddress(value)
                } catch {
                    return .invalid("--metrics \(error.message)")
                }
            case -1:
                guard Int(found.next) == words.count else {
                    return .invalid("backhauld takes only options; '\(words[Int(found.next)])' is not one")
                }
                return repairs ? .repair(options) : .run(options)
            default: return .invalid("")
            }
        }
    }

    func openStore() throws(Failure) -> StoreDirectory {
        if let store { return try StoreDirectory.open(path: store) }
        return try StoreDirectory.open(path: try DefaultStore.path())
    }
}
