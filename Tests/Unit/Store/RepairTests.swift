import BackhaulModel
import BackhaulPlatform
import Glibc
import TestSupport
import Testing

@testable import BackhaulStore

@Suite("The repair of a damaged database")
struct RepairTests {
    let scratch = Scratch()

    @Test("if any page is damaged, each task either stays or is reported as lost, and all rounds can end")
    func eachPage() throws {
        let filled = try BusyStore.shared.get()
        let size = Schema.pageSize
        // The pages of the schema are alike.
        for page in [0, 9] + Array(stride(from: 30, to: filled.bytes.count / size, by: Slice.hasAll ? 3 : 11)) {
            var bytes = filled.bytes
            bytes[page * size + 1_000] ^= 1
            try filled.expectRepair(of: bytes, at: "\(scratch.path)/\(page)", "page \(page + 1)")
        }
    }

    @Test(
        "after damage at random places, the same holds, or the repair says that nothing can be saved",
        arguments: 0..<25)
    func randomBytes(round: Int) throws {
        let filled = try BusyStore.shared.get()
        var random = SeededGenerator(seed: UInt64(round))
        var bytes = filled.bytes
        for _ in 0...round {
            bytes[.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
        }
        try filled.expectRepair(of: bytes, at: scratch.path, "round \(round)")
    }

    @Test("a database without damage is not changed")
    func noDamage() throws {
        let filled = try BusyStore.shared.get()
        try FilledStore.write(filled.bytes, to: scratch.path)
        let findings = try repair(scratch.path)
        #expect(findings.map(\.level) == [.ok])
        #expect(FilledStore.file("\(scratch.path)/\(Schema.fileName)") == filled.bytes)
        #expect(try DirectoryReader.textNames(in: scratch.path).sorted() == [Schema.fileName, "lock"].sorted())
    }

    @Test("the damaged files are kept, unchanged, in a new folder, whose path is reported")
    func damagedFiles() throws {
        let filled = try BusyStore.shared.get()
        for number in 1...2 {
            let bytes = filled.withDamagedTasks
            try FilledStore.write(bytes, to: scratch.path)
            let folder = "\(scratch.path)/damaged-\(number)"
            #expect(try repair(scratch.path).last?.text.hasSuffix("is in \(folder)") == true)
            #expect(FilledStore.file("\(folder)/\(Schema.fileName)") == bytes)
        }
    }

    @Test("if a repair is interrupted between two moves, the next one reports the same losses and uses the same folder")
    func interrupted() throws {
        let filled = try BusyStore.shared.get()
        let (store, aside) = (scratch.path, "\(scratch.path)/damaged-2")
        let bytes = filled.withDamagedTasks
        try FilledStore.write(bytes, to: store)
        try FilledStore.write([1], to: store, as: Schema.walName)
        for number in [1, 3] { mkdir("\(store)/damaged-\(number)", 0o700) }
        // A file with the name of the log stops the moves after the first one.
        try FilledStore.write([2], to: aside, as: Schema.walName)
        rename(aside, "\(store)/obstacle")
        var first: [StoreRepair.Finding] = []
        #expect(throws: Failure.self) {
            try repair(store) {
                first.append($0)
                rename("\(store)/obstacle", aside)
            }
        }
        let failure = #expect(throws: Failure.self) { try TestStore(store) }
        #expect(failure?.status == .storeDamaged && failure?.message.contains("doctor --repair") == true)
        unlink("\(aside)/\(Schema.walName)")
        let findings = try repair(store)
        #expect(!first.isEmpty && findings.dropLast() == first[...])
        #expect(findings.last?.text.hasSuffix("is in \(aside)") == true)
        #expect(FilledStore.file("\(aside)/\(Schema.fileName)") == bytes)
    }

    @Test("new tasks and events never get the number of a lost one")
    func numbers() throws {
        let filled = try BusyStore.shared.get()
        var bytes = filled.bytes
        // Each page but those of the schema, and so the highest numbers, too.
        for page in 30..<bytes.count / Schema.pageSize { bytes[page * Schema.pageSize + 1_000] ^= 1 }
        try FilledStore.write(bytes, to: scratch.path)
        _ = try repair(scratch.path)
        let store = try TestStore(scratch.path)
        let task = try #require(try store.enqueue([.numbered(100_000)], in: try store.session("new")).first)
        #expect(task.rawValue > BusyStore.taskCount)
    }

    @Test("a task whose conditions are lost is suspended, and not started without them")
    func lostConditions() throws {
        let filled = try BusyStore.shared.get()
        let path = scratch.path
        try FilledStore.write(filled.bytes, to: path)
        try run(path, "DELETE FROM constraints")
        try run(path, "DELETE FROM lanes; DELETE FROM groups")
        #expect(try repair(path).filter { $0.text.contains("has lost its conditions") }.count > 0)
        let store = try TestStore(path)
        for task in try store.tasks(of: filled.sessions[0]) where task.url.utf8.reduce(0, { $0 + Int($1) }) % 5 == 0 {
            #expect(task.state.hasEnded || task.state == .suspended)
        }
    }

    @Test("the repair reports no loss of groups, tasks and events that no task had")
    func nothingElse() throws {
        let path = scratch.path
        let store = try TestStore(path)
        let session = try store.session()
        try store.end(try #require(try store.enqueue([.numbered(1)], in: session).first))
        try store.acknowledge(session, .through(try #require(try store.events(of: session).first).id))
        store.close()
        try run(path, "DELETE FROM lanes")
        var bytes = FilledStore.file("\(path)/\(Schema.fileName)")
        bytes[1_000] ^= 1
        try FilledStore.write(bytes, to: path)
        #expect(
            try repair(path).filter { $0.level != .ok }.map(\.text) == ["the schema of the database could not be read"])
        #expect(try TestStore(path).events(of: session).count == 1)
    }

    @Test("the file of a lost task in the folder of finished files is reported")
    func keptFile() throws {
        let filled = try BusyStore.shared.get()
        try FilledStore.write(filled.withDamagedTasks, to: scratch.path)
        mkdir("\(scratch.path)/kept", 0o700)
        try FilledStore.write([1], to: "\(scratch.path)/kept", as: "77777")
        #expect(try repair(scratch.path).contains { $0.text.contains("\(scratch.path)/kept/77777") })
    }

    @Test("if the log is damaged, the rows before the damage stay, and the loss is reported")
    func damagedLog() throws {
        let filled = try BusyStore.shared.get()
        let path = scratch.path
        try FilledStore.write(filled.bytes, to: path)
        let store = try TestStore(path)
        let later = try (0..<3).map { try store.session("later-\($0)") }
        let (database, log) = (
            FilledStore.file("\(path)/\(Schema.fileName)"), FilledStore.file("\(path)/\(Schema.walName)")
        )
        store.close()
        var damaged = log
        damaged[100] ^= 1
        let copy = "\(path)/copy"
        try FilledStore.write(database, to: copy)
        try FilledStore.write(damaged, to: copy, as: Schema.walName)
        #expect(throws: Failure.self) { try TestStore(copy) }
        #expect(try repair(copy).contains { $0.text.contains("the newest changes are lost") })
        let repaired = try TestStore(copy)
        #expect(try repaired.tasks(of: filled.sessions[0]).count > 0)
        #expect(try !later.contains(repaired.session("new")))
    }
}

/// Repairs the database, and returns the findings.
@discardableResult
func repair(_ path: String, report: (StoreRepair.Finding) -> Void = { _ in }) throws -> [StoreRepair.Finding] {
    let directory = try StoreDirectory.open(path: path)
    let lock = try #require(try directory.acquireLock())
    var findings: [StoreRepair.Finding] = []
    try withoutActuallyEscaping(report) { report in
        try StoreRepair(directory, lock, origin: { _ in .example }) {
            findings.append($0)
            report($0)
        }.run()
    }
    return findings
}

/// Runs statements in a closed database, and returns the first value of the first row.
@discardableResult
func run(_ path: String, _ sql: String, _ query: String = "SELECT 1") throws -> String {
    let database = try Database(directory: try StoreDirectory.open(path: path))
    defer { database.connection.close() }
    try database.connection.execute(sql)
    return try database.connection.pragma(query) ?? ""
}

/// A closed database with two sessions, and tasks with all that may belong to a task.
private struct BusyStore {
    static let shared = Result { try BusyStore() }
    static let taskCount = 240

    let sessions: [SessionID]
    let bytes: [UInt8]
    let expected: [TaskID: String]

    init() throws {
        let scratch = Scratch()
        let store = try TestStore(scratch.path)
        sessions = [try store.session("photos"), try store.session("music")]
        for (index, session) in sessions.enumerated() {
            let tasks = try store.enqueue(
                (0..<Self.taskCount / 2).map { number in .numbered(index * 1_000 + number, Self.vary) }, in: session)
            for task in tasks.prefix(60) { try store.end(task) }
            for task in tasks.suffix(5) { try store.control(session, .suspend, TaskSelection(ids: [task])) }
            let events = try store.events(of: session)
            try store.acknowledge(session, .through(events[10].id))
        }
        expected = try Self.tasks(of: store, sessions)
        store.close()
        bytes = FilledStore.file(scratch.path + "/" + Schema.fileName)
    }

    private static func vary(_ request: inout Request) {
        let number = request.url.utf8.reduce(0) { $0 + Int($1) }
        if number % 3 == 0 { request.options.group = "album" }
        if number % 5 == 0 { request.options.policy.constraints.requiresUnmetered = true }
        if number % 4 == 0 { request.userData = Array("a picture".utf8) }
    }

    private static func tasks(of store: TestStore, _ sessions: [SessionID]) throws -> [TaskID: String] {
        var found: [TaskID: String] = [:]
        for session in sessions {
            for task in try store.tasks(of: session) {
                found[task.id] = "\(session) \(task.url) \(task.destinationPath ?? "") \(task.userData ?? [])"
            }
        }
        return found
    }

    /// The bytes with damage in a page of tasks.
    var withDamagedTasks: [UInt8] {
        var bytes = bytes
        bytes[bytes.count - 3 * Schema.pageSize + 1_000] ^= 1
        return bytes
    }

    func expectRepair(of bytes: [UInt8], at path: String, _ what: Comment) throws {
        try FilledStore.write(bytes, to: path)
        let findings: [StoreRepair.Finding]
        do {
            findings = try repair(path)
        } catch let failure as Failure {
            #expect(failure.status == .storeDamaged, what)
            return
        }
        let store = try TestStore(path)
        defer { store.close() }
        let found = try Self.tasks(of: store, sessions)
        for (task, text) in expected {
            #expect(found[task] == text || Self.reports(findings, task), "\(what): task \(task.rawValue)")
        }
        for session in sessions where try store.info(session) != nil { try expectEnd(of: session, store, what) }
    }

    /// Whether the findings name the task, or a range of lost rows that has it.
    private static func reports(_ findings: [StoreRepair.Finding], _ task: TaskID) -> Bool {
        findings.contains { finding in
            if finding.text.hasPrefix("task \(task.rawValue) ") { return true }
            guard finding.text.hasSuffix("of the table `tasks` cannot be read") else { return false }
            return finding.text.split(separator: ",").contains { range in
                let ends = range.split(separator: " ").compactMap { $0 == "higher" ? .max : UInt64($0) }
                return ends.first.map { $0 <= task.rawValue } ?? false && ends.last.map { task.rawValue <= $0 } ?? false
            }
        }
    }

    /// Ends all tasks, and acknowledges all events.
    private func expectEnd(of session: SessionID, _ store: TestStore, _ what: Comment) throws {
        let tasks = try store.tasks(of: session)
        let live = tasks.filter { !$0.state.hasEnded }
        #expect(try store.info(session)?.liveTasks == UInt64(live.count), what)
        for task in live { try store.end(task.id) }
        let events = try store.events(of: session)
        #expect(Set(events.compactMap { $0.task?.id }) == Set(tasks.map(\.id)), what)
        #expect(try store.info(session)?.hasFinishedRound == true, what)
        guard let last = events.last else { return }
        try store.acknowledge(session, .through(last.id))
        #expect(try store.info(session)?.events == 0, what)
    }
}
