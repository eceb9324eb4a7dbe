import Testing

@testable import backhaul

/// A variant of a session has a name that is made from the options of a command.
@Suite("Names of the variants of a session")
struct SessionVariantTests {
    private static func name(_ option: String) -> String {
        SessionVariant.name(of: "photos", [(name: option, value: "x")])
    }

    @Test(
        "the name from an option of a variant is recognised",
        arguments: Setting.options(Setting.variantSettings).map(\.name) + [SessionVariant.userOption])
    func variants(_ option: String) {
        #expect(SessionVariant.isVariant(Self.name(option), of: "photos"))
        #expect(!SessionVariant.isVariant(Self.name(option), of: "photo"))
    }

    @Test("the name from an option that only a session has is no name of a variant")
    func others() {
        let options = Setting.options(Setting.sessionSettings.filter(\.isOnlyOfSession))
        #expect(!options.isEmpty)
        #expect(!options.contains { SessionVariant.isVariant(Self.name($0.name), of: "photos") })
    }
}
