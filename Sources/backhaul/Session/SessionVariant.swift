/// A *variant* of a session is a session for the transfers of commands with options that only a session can have, such
/// as `--proxy`. It has the settings of its session, except for these options. The name of the variant is made from the
/// options, so that the same command later finds the same transfers.
enum SessionVariant {
    /// The number of hexadecimal digits at the end of the name.
    private static let digits = 12
    /// The option whose value is the user of a credential.
    static let userOption = "user"

    /// The name of a variant, such as "default+proxy-3f9a0c12d4e5". Without options, the name of the session.
    /// - Parameter options: The given options and their values, without passwords.
    static func name(of session: String, _ options: [(name: String, value: String)]) -> String {
        if options.isEmpty { return session }
        let text = options.map { "\($0.name)=\($0.value)\0" }.joined()
        let hash = Text.hexadecimal(hash(text), digits: 16).suffix(digits)
        return "\(session)+\(options.first?.name ?? "")-\(hash)"
    }

    /// Whether `name` is the name of a variant of the session.
    static func isVariant(_ name: String, of session: String) -> Bool {
        guard name.hasPrefix(session + "+"), let hyphen = name.lastIndex(of: "-") else { return false }
        let option = name[..<hyphen].dropFirst(session.count + 1)
        let hash = name[hyphen...].dropFirst()
        let options = Setting.options(Setting.variantSettings).map(\.name) + [userOption]
        return options.contains(String(option)) && hash.count == digits
            && hash.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    /// FNV-1a with 64 bits. Swift's own hash has another seed in each process.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
