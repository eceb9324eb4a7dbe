import Testing

@testable import backhaul

/// The operands in the help of a command are also what completions offer.
@Suite("The operands of a command")
struct OperandGrammarTests {
    /// What the next operand can be: the kind of its value, or its words.
    private static func next(_ synopsis: String, after operands: [String] = []) -> [String] {
        OperandGrammar(synopsis).next(after: operands)
            .flatMap { $0.kind == .word ? $0.words : [$0.kind.rawValue] + $0.words }
    }

    @Test("a repeated operand can follow itself")
    func repeated() { #expect(Self.next("URL...", after: ["http://a", "http://b"]) == ["url"]) }

    @Test("an optional operand may be left out")
    func optional() { #expect(Self.next("[FILE...] URL") == ["file", "url"]) }

    @Test("an action selects the operands after it")
    func actions() {
        let synopsis = "[set ACTIVITY [URL] | remove ACTIVITY]"
        #expect(Self.next(synopsis) == ["set", "remove"])
        #expect(Self.next(synopsis, after: ["set", "news"]) == ["url"])
        #expect(Self.next(synopsis, after: ["remove"]) == ["activity"])
    }

    @Test("nothing can follow the last operand, not even an action")
    func end() {
        #expect(Self.next("[remove SESSION]", after: ["remove", "photos"]) == [])
        #expect(Self.next("[remove SESSION...]", after: ["remove"]) == ["session"])
        #expect(Self.next("install | status", after: ["install"]) == [])
        #expect(Self.next("") == [])
    }

    @Test("an option in place of an operand is no operand")
    func options() { #expect(Self.next("NUMBER|now TASK... | --group NAME | --all") == ["number", "now"]) }

    @Test("two hyphens before a program are no operand")
    func hyphens() { #expect(Self.next("[--] PROGRAM [ARGUMENT...]") == ["file"]) }

    @Test("the words of a command with actions are known", arguments: ["service", "activities", "limits"])
    func actionsOfCommands(_ name: String) throws {
        let command = try #require(Commands.named(name)?.description)
        #expect(!command.operandGrammar.actions.isEmpty)
    }

    @Test("each option with which the help of a command begins exists", arguments: Commands.all.map(\.description.name))
    func mainOptions(_ name: String) throws {
        let command = try #require(Commands.named(name)?.description)
        #expect(Set(command.mainOptions).isSubset(of: command.options.map(\.name)))
    }
}
