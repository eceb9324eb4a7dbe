/// A mistake in the options of a command line.
enum OptionFault {
    /// An option that the command does not have.
    case unknown(name: String, options: [OptionDescription])
    /// A shortened name that can be one of several options.
    case ambiguous(name: String, [OptionDescription])
    case missingArgument(OptionDescription)
    /// A value that is given with `=` to an option without an argument.
    case unwantedArgument(OptionDescription)

    /// - Parameters:
    ///   - option: The option, if it is known.
    ///   - letter: The letter of an unknown option, or 0.
    ///   - word: The word with an unknown long option.
    init(isMissingArgument: Bool, option: OptionDescription?, letter: Int32, word: String, options: [OptionDescription])
    {
        if let option {
            self = isMissingArgument ? .missingArgument(option) : .unwantedArgument(option)
        } else if letter == 0 {
            let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
            let longer = options.filter { $0.name.hasPrefix(name) && $0.isShown }
            self = longer.count > 1 ? .ambiguous(name: name, longer) : .unknown(name: "--" + name, options: options)
        } else {
            let letter = UInt8(exactly: letter).flatMap { $0 < 0x80 ? Character(Unicode.Scalar($0)) : nil }
            self = .unknown(name: letter.map { "-\($0)" } ?? "with a letter outside ASCII", options: options)
        }
    }

    var text: String {
        switch self {
        case .unknown(let name, let options):
            // A letter is close to every other letter.
            let isLong = name.hasPrefix("--")
            let names = isLong ? options.filter(\.isShown).map(\.name) : []
            let nearest = Suggestion.nearest(to: String(name.dropFirst(2)), among: names)
            return "there is no option \(name)" + (nearest.map { "; did you mean --\($0)?" } ?? "")
        case .ambiguous(let name, let options):
            let names = options.map { "--" + $0.name }
            let others = names.dropLast().joined(separator: ", ")
            return "--\(name) is ambiguous: it can be \(others) or \(names.last ?? "")"
        case .missingArgument(let option):
            return "--\(option.name) needs a value: --\(option.name) \(option.argument ?? "")"
        case .unwantedArgument(let option):
            return "--\(option.name) takes no value"
        }
    }
}
