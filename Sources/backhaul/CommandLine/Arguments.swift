import Backhaul
import CLinux
import Glibc

/// The options and operands of a command line, as getopt_long parses them.
struct Arguments {
    private(set) var values: [String: [String]] = [:]
    private(set) var operands: [String] = []
    /// Options without an argument whose settings are reset to their defaults.
    private var resets: Set<String> = []
    /// The options that the configuration file gives, with the positions of their lines.
    private var places: [String: String] = [:]

    /// - Parameters:
    ///   - stopAtOperand: Whether each word after the first operand is an operand, even if the word begins with a
    ///     hyphen.
    ///   - report: Is called for each wrong option. If it does not throw, the option is ignored.
    init(
        words: [String], options: [OptionDescription], stopAtOperand: Bool = false,
        report: (OptionFault) throws(CommandError) -> Void = { fault throws(CommandError) in throw .usage(fault.text) }
    ) throws(CommandError) {
        let arena = CStringArena()
        let firstLongCode: Int32 = 256
        // The colon makes getopt distinguish a missing argument from an unknown option.
        var letters = stopAtOperand ? "+:" : ":"
        var table: [option] = []
        for (index, description) in options.enumerated() {
            if let letter = description.letter { letters += String(letter) + (description.argument == nil ? "" : ":") }
            table.append(
                option(
                    name: arena.string(description.name),
                    has_arg: description.argument == nil ? no_argument : required_argument, flag: nil,
                    val: firstLongCode + Int32(index)))
        }
        table.append(option())
        // getopt_long ignores the first word, which is the name of the program.
        let pointers: [UnsafeMutablePointer<CChar>?] = (["backhaul"] + words).map {
            UnsafeMutablePointer(mutating: arena.string($0))
        }
        let permuted: [String] = try pointers.withMutableBuffer { (words) throws(CommandError) in
            bhl_restart_options()
            while true {
                let found = bhl_next_option(Int32(words.count - 1), words.baseAddress, letters, table)
                guard found.code != -1 else {
                    return words[Int(found.next)..<(words.count - 1)].compactMap { $0.map { String(cString: $0) } }
                }
                func option(_ code: Int32) -> OptionDescription? {
                    code >= firstLongCode
                        ? options[Int(code - firstLongCode)]
                        : options.first { $0.letter?.asciiValue.map(Int32.init) == code }
                }
                guard let description = option(found.code) else {
                    // An option that getopt does not know is in the word before the next one.
                    let word = words[Int(max(0, found.next - 1))].map { String(cString: $0) } ?? ""
                    let fault = OptionFault(
                        isMissingArgument: found.code == Int32(UInt8(ascii: ":")), option: option(found.option),
                        letter: found.option, word: word, options: options)
                    try report(fault)
                    continue
                }
                values[description.name, default: []].append(found.argument.map { String(cString: $0) } ?? "")
            }
        }
        operands = permuted
    }

    // Unsafe: argv is valid as long as the process, and each of its `argc` strings ends with a zero byte.
    /// The words of the command line after the name of the program. Throws if a word is not valid UTF-8, because the
    /// library takes all texts and paths in UTF-8, and a changed path names another file.
    static func ofProcess() throws(CommandError) -> [String] {
        // The Swift runtime reads the command line from /proc.
        guard CommandLine.argc > 0 else {
            throw .stopped(
                .storeUnusable,
                "/proc is not mounted, so the arguments cannot be read; mount it: mount -t proc proc /proc")
        }
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[index] else { break }
            guard let word = String(validatingCString: bytes) else {
                throw .usage("argument \(index) is not valid UTF-8: \(Text.quoted(String(cString: bytes)))")
            }
            words.append(word)
        }
        return words
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// Whether the option is on the command line. If not, the configuration file may give it.
    func isTyped(_ name: String) -> Bool { has(name) && places[name] == nil }

    /// Adds an option of the configuration file.
    /// - Parameter place: The position of its line.
    mutating func addDefault(_ name: String, _ value: String, from place: String) {
        values[name, default: []].append(value)
        places[name] = place
    }

    /// Calls `body` with the arguments. If it throws because of an option of the configuration file, the message names
    /// the line of that option.
    func namingDefaults<Result>(
        _ body: (Arguments) throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        do throws(CommandError) {
            return try body(self)
        } catch {
            guard case .usage(let text) = error else { throw error }
            let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "." }
            let named = places.filter { words.contains("--" + $0.key) }.sorted { $0.key < $1.key }
            throw .usage(text + named.map { "; --\($0.key) is from \($0.value)" }.joined())
        }
    }

    /// Whether the command changes the setting of this option.
    func changes(_ name: String) -> Bool { has(name) || isReset(name) }

    func isReset(_ name: String) -> Bool { resets.contains(name) }

    /// Resets the setting of an option to its default, unless the option is given, too. An option with an argument gets
    /// an empty value, which has this meaning.
    mutating func reset(_ option: OptionDescription) {
        if has(option.name) { return }
        if option.argument == nil { resets.insert(option.name) } else { values[option.name] = [""] }
    }

    mutating func remove(_ name: String) { values[name] = nil }

    mutating func set(_ name: String, _ value: String) { values[name] = [value] }

    /// The value of an option. If the option is given several times, the last value is used.
    func value(_ name: String) -> String? { values[name]?.last }

    func all(_ name: String) -> [String] { values[name] ?? [] }

    mutating func merge(_ earlier: Arguments) {
        values.merge(earlier.values) { later, earlier in earlier + later }
    }

    func number(_ name: String, in range: ClosedRange<Int64>) throws(CommandError) -> Int64? {
        guard let text = value(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw .usage(
                "--\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }

    /// Converts operands to the ids of tasks.
    /// - Parameter some: The operands to convert. Nil means all operands.
    func taskIDs(_ some: ArraySlice<String>? = nil) throws(CommandError) -> [TaskID] {
        var ids: [TaskID] = []
        for operand in some ?? operands[...] {
            guard let id = UInt64(operand), id > 0 else {
                throw .usage("'\(operand)' is not a task's number; `backhaul tasks` shows them")
            }
            ids.append(TaskID(rawValue: id))
        }
        return ids
    }
}

extension [UnsafeMutablePointer<CChar>?] {
    // Unsafe: argv is an array of pointers. The array is valid until the call returns, and its strings are valid as
    // long as the arena, which owns them, exists.
    /// Calls `body` with the words as argv, which ends with a null pointer. getopt may change the order of the words in
    /// argv.
    fileprivate func withMutableBuffer<Result>(
        _ body: (UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>) throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        let buffer = UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: count + 1)
        defer { buffer.deallocate() }
        _ = buffer.initialize(from: self + [nil])
        return try body(buffer)
    }
}
