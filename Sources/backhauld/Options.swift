import CLinux
import Glibc

/// What the command line asks for.
struct Options {
    enum Parsed {
        case run(Options)
        case help
        case version
        case wrong(String)
    }

    /// Absolute; nil: the user's own store.
    var store: String?
    /// For how long nothing may be left to do before the daemon leaves.
    var lingerMilliseconds: Int64 = 2_000

    static let help = """
        Usage: backhauld [--store PATH] [--linger MILLISECONDS]

        Transfers for the programs of one user, on behalf of libbackhaul, which starts it when it is needed and which
        it outlives. It leaves by itself when nothing is left to do. When another engine serves the store already it
        ends at once, with success.

          --store PATH           the store's directory, an absolute path
                                 (default: $BACKHAUL_STORE, $XDG_STATE_HOME/backhaul or ~/.local/state/backhaul)
          --linger MILLISECONDS  stay for so long when nothing is left to do (default: 2000)
          --version              show the version
          --help                 show this help

        SIGTERM and SIGINT: write down what was received, within a second, and leave. Nothing is lost by any other
        end either.

        """

    static func parse(_ words: [String]) -> Parsed {
        var options = Options()
        // Unsafe: copies that live as long as the process, as argv itself does; getopt_long moves them about.
        let arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 1)
        for (index, word) in words.enumerated() { (arguments + index).initialize(to: strdup(word)) }
        (arguments + words.count).initialize(to: nil)
        let known = [
            option(name: strdup("store"), has_arg: required_argument, flag: nil, val: 1),
            option(name: strdup("linger"), has_arg: required_argument, flag: nil, val: 2),
            option(name: strdup("version"), has_arg: no_argument, flag: nil, val: 3),
            option(name: strdup("help"), has_arg: no_argument, flag: nil, val: 4),
            option(),
        ]
        while true {
            let found = bhl_next_option(Int32(words.count), arguments, "", known)
            let value = found.argument.map { String(cString: $0) } ?? ""
            switch found.code {
            case 1:
                guard value.utf8.first == UInt8(ascii: "/") else {
                    return .wrong("--store takes an absolute path; '\(value)' does not begin with a slash.")
                }
                options.store = value
            case 2:
                guard let number = Int64(value), (0...86_400_000).contains(number) else {
                    return .wrong("--linger takes a whole number from 0 to 86400000, not '\(value)'.")
                }
                options.lingerMilliseconds = number
            case 3: return .version
            case 4: return .help
            case -1:
                guard Int(found.next) == words.count else {
                    return .wrong("There is nothing to be named but options; '\(words[Int(found.next)])' is none.")
                }
                return .run(options)
            default: return .wrong("")
            }
        }
    }
}
