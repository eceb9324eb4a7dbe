import BackhaulModel
import Testing

@testable import BackhaulStore

/// The settings of a network are a limit on the moved bytes, and whether its data may cost money. The moved bytes are
/// counted for each network, session (named collection of uploads and downloads) and day.
@Suite("Networks")
struct NetworkTests {
    let scratch = Scratch()

    @Test("the stored settings of a network are removed when all of them have their default values")
    func settings() throws {
        let store = try TestStore(scratch.path)
        var home = NetworkSettings(name: "home")
        home.isMetered = false
        home.monthStartsOn = 28
        home.budget = ByteBudget(daily: 0, monthly: .max - 1)
        var phone = NetworkSettings(name: "phone")
        phone.isMetered = true
        func set(_ settings: NetworkSettings) throws -> [NetworkSettings] {
            try store.run { transaction in
                try transaction.settings.setNetwork(settings)
                return try transaction.settings.networks()
            }
        }
        #expect(try set(phone) == [phone])
        #expect(try set(home) == [home, phone])
        phone.isMetered = nil
        phone.budget.daily = 5
        #expect(try set(phone) == [home, phone])
        #expect(try set(NetworkSettings(name: "home")) == [phone])
        #expect(try set(NetworkSettings(name: "unknown")) == [phone])
    }

    @Test("a saved count of bytes replaces the earlier count, and remains after the session is removed")
    func usage() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        var usage = ByteUsage()
        usage.add(5, network: "home", session: session, day: 20_000)
        let first = usage.takeUnsaved()
        usage.add(7, network: "home", session: session, day: 20_000)
        usage.add(9, network: "phone", session: session, day: 20_001)
        let second = usage.takeUnsaved()
        let kept = try store.run { transaction in
            try transaction.settings.saveUsage(first)
            try transaction.settings.saveUsage(second)
            _ = try transaction.sessions.invalidate(session, cancelTasks: true, now: 1)
            return try transaction.settings.usage()
        }
        #expect(ByteUsage(kept) == usage)
        let rest = try store.run { transaction in
            try transaction.settings.saveUsage([], removing: [("home", 20_000)])
            return try transaction.settings.usage().map(\.network)
        }
        #expect(rest == ["phone"])
    }
}
