import BackhaulModel
import BackhaulPlatform
import Glibc
import TestSupport
import Testing

@testable import BackhaulStore

@Suite("The repair of a database that has lost certain rows or pages")
struct LossRepairTests {
    let scratch = Scratch()
    private var path: String { scratch.path }

    /// Makes a closed store with a session.
    private func makeStore(_ body: (TestStore, SessionID) throws -> Void) throws {
        let store = try TestStore(path)
        try body(store, try store.session())
        store.close()
    }

    /// Changes the bytes of the database.
    private func change(_ body: (inout [UInt8]) -> Void) throws {
        var bytes = FilledStore.file("\(path)/\(Schema.fileName)")
        body(&bytes)
        try FilledStore.write(bytes, to: path)
    }

    private func damageRoot(of name: String) throws {
        let root = try #require(Int(try run(path, "", "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")))
        try change { $0[(root - 1) * Schema.pageSize + 1_000] ^= 1 }
    }

    // MARK: Rows

    @Test("an activity that has lost its conditions or its options is removed, and reported")
    func lostActivities() throws {
        var options: [String: (inout Request) -> Void] = [:]
        options["conditions"] = { $0.options.policy.constraints.requiresUnmetered = true }
        options["options"] = { $0.options.ignoresDigests = true }
        options["whole"] = { $0.options.isOnlyIfChanged = true }
        options["plain"] = { _ in }
        try makeStore { store, session in
            for (name, change) in options {
                var activity = Activity(identifier: name, intervalMilliseconds: 3_600_000)
                activity.request = .numbered(1, change)
                let made = activity
                try store.run { try $0.activities.set(made, origin: .example, in: session, now: 1) }
            }
        }
        try run(
            path,
            """
            DELETE FROM constraints;
            DELETE FROM activity_options WHERE activity_id = (SELECT id FROM activities WHERE identifier = 'options')
            """)
        let texts = try repair(path).map(\.text)
        for name in ["conditions", "options"] {
            #expect(texts.contains { $0.hasPrefix("the activity \(name) is lost") })
        }
        #expect(
            try run(path, "", "SELECT group_concat(identifier) FROM (SELECT * FROM activities ORDER BY 3)")
                == "plain,whole")
    }

    @Test("if the numbers that were used last are lost, no number is used twice")
    func lostSequences() throws {
        var (task, event) = (TaskID(rawValue: 0), EventID.zero)
        try makeStore { store, session in
            let tasks = try store.enqueue((0..<3).map { .numbered($0) }, in: session)
            for task in tasks { try store.end(task) }
            event = try #require(try store.events(of: session).last).id
            task = try #require(tasks.last)
            try store.acknowledge(session, .through(event))
        }
        try damageRoot(of: "sqlite_sequence")
        try repair(path)
        let store = try TestStore(path)
        let session = try store.session("new")
        let new = try #require(try store.enqueue([.numbered(9)], in: session).first)
        try store.end(new)
        #expect(new > task)
        #expect(try #require(try store.events(of: session).first).id > event)
    }

    @Test("an upload of a form that has lost a part is lost")
    func lostPart() throws {
        try makeStore { store, session in
            let parts = ["a", "b"].map { FormPart(name: $0, content: .value([1])) }
            try store.enqueue([.numbered(1) { $0.options.body = .form(parts, .reference) }], in: session)
        }
        try run(path, "DELETE FROM body_parts WHERE position = 1")
        #expect(try repair(path).contains { $0.text.hasPrefix("task 1 is lost, because its body cannot be read") })
        #expect(try run(path, "", "SELECT count(*) FROM tasks") == "0")
    }

    @Test("all rows of a lost task are removed, so that no file is removed for it and no challenge waits for it")
    func lostTask() throws {
        try makeStore { store, session in
            var file = BodyFile(path: "/home/someone/a", device: 1, inode: 2, size: 3, modifiedNanoseconds: 4)
            file.storedName = "1"
            let stored = file
            try store.enqueue([.numbered(1) { $0.options.body = .file(stored, .consume) }], in: session)
            try store.run { try $0.bodies.recordConsumed([stored]) }
        }
        try run(
            path,
            """
            INSERT INTO challenges (session_id, kind, origin, has_realm, schemes, failures, opened_ms)
                VALUES (1, 1, 'https://example.org', 0, 1, 0, 1);
            INSERT INTO events (session_id, kind, round, time_ms, challenge_id) VALUES (1, 3, 1, 1, 1);
            DELETE FROM tasks; DELETE FROM requests
            """)
        #expect(try repair(path).contains { $0.text.hasPrefix("task 1 is lost, because its state cannot be read") })
        for table in ["request_options", "body_parts", "consumed", "challenges", "events WHERE challenge_id > 0"] {
            #expect(try run(path, "", "SELECT count(*) FROM \(table)") == "0", "\(table)")
        }
    }

    private func waiting(for task: TaskID, _ ifFails: DependencyFailure = .fail) -> Request {
        var dependency = Dependency(.id(task))
        dependency.ifFails = ifFails
        return .numbered(task.rawValue == 1 ? 10 + Int(ifFails.rawValue) : 20) {
            $0.options.dependencies = [dependency]
        }
    }

    @Test("tasks that wait for a lost task end as declared, and those that wait for them, too")
    func lostPredecessor() throws {
        try makeStore { store, session in
            let first = try store.enqueue([.numbered(1)], in: session)[0]
            let tasks = try store.enqueue(DependencyFailure.allCases.map { waiting(for: first, $0) }, in: session)
            try store.enqueue([waiting(for: tasks[0])], in: session)
        }
        try run(path, "DELETE FROM tasks WHERE id = 1; DELETE FROM requests WHERE task_id = 1")
        let texts = try repair(path).map(\.text)
        #expect(texts.contains("task 2 waited for task 1, which is lost"))
        let states = "SELECT group_concat(id || ' ' || state || ' ' || due_reason) FROM tasks"
        let (failed, cancelled) = (TaskState.failed.rawValue, TaskState.cancelled.rawValue)
        #expect(
            try run(path, "", states)
                == "2 \(failed) 0,3 \(cancelled) 0,4 \(TaskState.waiting.rawValue) 0,5 \(failed) 0")
        let store = try TestStore(path)
        let events = try store.events(of: store.session()).compactMap(\.task)
        #expect(events.map(\.id.rawValue).sorted() == [2, 3, 5])
        #expect(events.first { $0.id.rawValue == 2 }?.outcome.failure?.status == .dependencyFailed)
    }

    @Test("a task that has lost the task that it waits for is lost, because its request may need the response")
    func lostDependency() throws {
        try makeStore { store, session in
            let first = try store.enqueue([.numbered(1)], in: session)[0]
            try store.enqueue([waiting(for: first)], in: session)
        }
        try run(path, "DELETE FROM dependencies")
        #expect(
            try repair(path).contains {
                $0.text.hasPrefix("task 2 is lost, because the task that it waits for cannot be read")
            })
        #expect(try run(path, "", "SELECT group_concat(id) FROM tasks") == "1")
    }

    @Test("a suspended task is lost if one of the tasks that it waits for is lost from its request")
    func lostDependencyOfSuspended() throws {
        try makeStore { store, session in
            let first = try store.enqueue([.numbered(1)], in: session)[0]
            let waiting = try store.enqueue([waiting(for: first)], in: session)
            try store.control(session, .suspend, TaskSelection(ids: waiting))
        }
        try run(path, "DELETE FROM dependencies")
        _ = try repair(path)
        #expect(try run(path, "", "SELECT group_concat(id) FROM tasks") == "1")
    }

    @Test("a task that has lost what it took from a response is lost, because its request lacks this")
    func lostTakenValues() throws {
        try makeStore { store, session in
            let first = try store.enqueue([.numbered(1)], in: session)[0]
            var request = waiting(for: first)
            request.options.dependencies[0].headers = [HeaderField("X-Token", "header:Token")]
            try store.enqueue([request], in: session)
            var outcome = Outcome(state: .succeeded)
            outcome.response.headers = [HeaderField("Token", "t")]
            try store.end(first, outcome)
        }
        #expect(try run(path, "DELETE FROM taken_values RETURNING 1", "SELECT count(*) FROM taken_values") == "0")
        #expect(
            try repair(path).contains {
                $0.text.hasPrefix("task 2 is lost, because what it takes from the response of another task cannot be ")
            })
    }

    @Test("a suspended task and a task that was set aside stay so when their conditions are lost")
    func lostConditionsOfSuspendedTasks() throws {
        try makeStore { store, session in
            let tasks = try store.enqueue(
                (0..<3).map { .numbered($0) { $0.options.policy.constraints.requiresUnmetered = true } }, in: session)
            try store.control(session, .suspend, TaskSelection(ids: [tasks[0]]))
            try store.control(session, .setAside, TaskSelection(ids: [tasks[1]]))
        }
        let states =
            "SELECT group_concat(state || ' ' || due_reason || ' ' || ifnull(suspended_since_ms, 0)) FROM tasks"
        let before = try run(path, "DELETE FROM constraints", states).split(separator: ",")
        #expect(try repair(path).filter { $0.text.contains("has lost its conditions") }.count == 3)
        let after = try run(path, "", states).split(separator: ",")
        #expect(after.prefix(2) == before.prefix(2))
        #expect(after.last?.hasPrefix("\(TaskState.suspended.rawValue) 0 ") == true)
    }

    @Test("rows that contradict other rows are left out, and reported")
    func contradictingRows() throws {
        try makeStore { store, session in
            for task in try store.enqueue((0..<3).map { .numbered($0) }, in: session) { try store.end(task) }
        }
        try run(path, "DROP INDEX events_by_task; UPDATE events SET task_id = 1 WHERE task_id = 2")
        #expect(try repair(path).contains { $0.level == .warning && $0.text.contains("`events`") })
    }

    @Test("if only an index is damaged, the repair reports that rows may be missing")
    func damagedIndex() throws {
        try makeStore { store, session in try store.enqueue([.numbered(1)], in: session) }
        try damageRoot(of: "tasks_by_state")
        let findings = try repair(path)
        #expect(findings.map(\.level) == [.warning, .ok])
        #expect(try repair(path).map(\.level) == [.ok])
    }

    @Test("rows with the greatest possible numbers are repaired like others")
    func greatestNumbers() throws {
        try makeStore { _, _ in }
        try run(
            path,
            """
            WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT 400)
            INSERT INTO claims SELECT 9223372036854775807 - n, 1, 1, 1, '/a', NULL FROM numbers
            """)
        let bytes = FilledStore.file("\(path)/\(Schema.fileName)")
        for page in Slice.hasAll ? Array(1...8) : [1, 4, 8] {
            var damaged = bytes
            damaged[damaged.count - page * Schema.pageSize + 1_000] ^= 1
            try FilledStore.write(damaged, to: "\(path)/\(page)")
            #expect(try repair("\(path)/\(page)").contains { $0.level == .warning })
        }
    }

    // MARK: Pages and files

    @Test("a page that the disk cannot read gets bytes that match no checksum in the copy")
    func unreadablePage() throws {
        try makeStore { store, session in try store.enqueue([.numbered(1)], in: session) }
        let target = Scratch()
        let copy = DamagedCopy(folder: try StoreDirectory.open(path: target.path))
        let damaged = 5 * Schema.pageSize..<6 * Schema.pageSize
        let count = try copy.add(Schema.fileName, from: try StoreDirectory.open(path: path)) {
            (file, buffer, count, offset) in
            guard damaged.overlaps(Int(offset)..<Int(offset) + count) else {
                return pread(file, buffer, count, offset)
            }
            errno = EIO
            return -1
        }
        #expect(count == 1)
        try change { $0.replaceSubrange(damaged, with: repeatElement(.max, count: damaged.count)) }
        #expect(FilledStore.file("\(target.path)/\(Schema.fileName)") == FilledStore.file("\(path)/\(Schema.fileName)"))
    }

    @Test("a page of the schema that has only zeros is made again")
    func zeroPage() throws {
        try makeStore { store, session in try store.enqueue([.numbered(1)], in: session) }
        let list = try run(path, "", "SELECT group_concat(rootpage) FROM sqlite_schema")
        let roots = Set(list.split(separator: ",").compactMap { Int($0) })
        let (bytes, size) = (FilledStore.file("\(path)/\(Schema.fileName)"), Schema.pageSize)
        for page in 1..<bytes.count / size where !roots.contains(page + 1) {
            var damaged = bytes
            damaged.replaceSubrange(page * size..<(page + 1) * size, with: repeatElement(0, count: size))
            let store = "\(path)/\(page)"
            try FilledStore.write(damaged, to: store)
            #expect(try repair(store).first?.text == "the schema of the database could not be read", "page \(page + 1)")
            #expect(try run(store, "", "SELECT count(*) FROM tasks") == "1")
        }
    }

    @Test("a store with a long path is repaired")
    func longPath() throws {
        try makeStore { store, session in try store.enqueue([.numbered(1)], in: session) }
        let bytes = FilledStore.file("\(path)/\(Schema.fileName)")
        var store = path
        for _ in 0..<4 {
            store += "/" + String(repeating: "x", count: 200)
            mkdir(store, 0o700)
        }
        try FilledStore.write(bytes, to: store)
        try run(store, "DELETE FROM lanes; DELETE FROM tasks")
        #expect(try repair(store).count == 2)
    }

    @Test("a store of a newer version is refused")
    func newerStore() throws {
        try makeStore { _, _ in }
        try run(path, "PRAGMA user_version = 99")
        let failure = #expect(throws: Failure.self) { try repair(path) }
        #expect(failure?.status == .storeNewer)
    }

    @Test("if no row can be read, the repair fails and changes nothing")
    func garbage() throws {
        var random = SeededGenerator(seed: 1)
        let bytes = (0..<50 * Schema.pageSize).map { _ in UInt8.random(in: 0...255, using: &random) }
        try FilledStore.write(bytes, to: path)
        let failure = #expect(throws: Failure.self) { try repair(path) }
        #expect(failure?.status == .storeDamaged)
        #expect(FilledStore.file("\(path)/\(Schema.fileName)") == bytes)
        #expect(try DirectoryReader.textNames(in: path).sorted() == [Schema.fileName, "lock"].sorted())
    }

    @Test("a link with the name of the repair's folder is replaced, and its target stays")
    func link() throws {
        let target = Scratch()
        try FilledStore.write([1], to: target.path, as: "file")
        try makeStore { store, session in try store.enqueue([.numbered(1)], in: session) }
        try run(path, "DELETE FROM requests")
        #expect(symlink(target.path, "\(path)/repair") == 0)
        #expect(try repair(path).count == 2)
        #expect(try DirectoryReader.textNames(in: target.path) == ["file"])
    }
}
