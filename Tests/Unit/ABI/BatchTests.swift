import BackhaulModel
import CBackhaul
import Testing

@testable import BackhaulABI

@Suite("A batch")
struct BatchTests {
    private func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

    private func ended(_ id: UInt64, _ outcome: Outcome, userData: [UInt8]? = nil) -> Event {
        let task = EndedTask(
            id: TaskID(rawValue: id), url: "https://example.org/\(id)", idempotencyKey: "key \(id)",
            userData: userData, outcome: outcome)
        return Event(id: EventID(rawValue: id + 100), round: 2, timeMilliseconds: 1_700, kind: .taskEnded(task))
    }

    @Test("in a batch, the event of a successful task has its path, byte counts, user data and response headers")
    func succeeded() throws {
        var outcome = Outcome(state: .succeeded, path: "/photos/1.jpg")
        outcome.size = 4_096
        outcome.attempts = 2
        outcome.bytesReceived = 5_000
        outcome.response.httpStatus = 206
        outcome.response.finalURL = "https://cdn.example.org/1"
        outcome.response.mediaType = "image/jpeg"
        outcome.response.headers = [HeaderField("ETag", "\"abc\""), HeaderField("X-Empty", "")]
        let batch = try Batch(.events([ended(1, outcome, userData: [1, 0, 255])], more: true))
        #expect(batch.count == 1 && batch.more)
        // The structs have pointers into the batch.
        defer { withExtendedLifetime(batch) {} }
        let event = try #require(batch.event(at: 0)).pointee
        #expect(event.struct_size == MemoryLayout<bh_event>.size)
        #expect(event.id == 101 && event.task_id == 1 && event.round == 2 && event.time_ms == 1_700)
        #expect(event.kind == BH_EVENT_TASK_ENDED && event.task_state == BH_TASK_SUCCEEDED && event.status == BH_OK)
        #expect(event.error_domain == 0 && event.error_detail == 0 && event.error_message == nil)
        #expect(text(event.url) == "https://example.org/1" && text(event.final_url) == "https://cdn.example.org/1")
        #expect(text(event.path) == "/photos/1.jpg" && text(event.media_type) == "image/jpeg")
        #expect(text(event.idempotency_key) == "key 1")
        #expect(event.http_status == 206 && event.attempts == 2)
        #expect(event.size == 4_096 && event.bytes_received == 5_000)
        #expect(Array(UnsafeRawBufferPointer(start: event.user_data, count: event.user_data_size)) == [1, 0, 255])
        let headers = UnsafeBufferPointer(start: event.headers, count: event.header_count)
        #expect(headers.map { text($0.name) } == ["ETag", "X-Empty"])
        #expect(headers.map { text($0.value) } == ["\"abc\"", ""])
        #expect(event.error_body == nil && event.error_body_size == 0)
    }

    @Test("in a batch, the event of a failed task has the underlying error code and the response's body")
    func failed() throws {
        var outcome = Outcome(
            state: .failed, failure: Failure(.httpStatus, "the server responded 404", domain: .http, detail: 404))
        outcome.response.errorBody = Array("no such page".utf8)
        let batch = try Batch(.events([ended(7, outcome)], more: false))
        // The structs have pointers into the batch.
        defer { withExtendedLifetime(batch) {} }
        let event = try #require(batch.event(at: 0)).pointee
        #expect(event.task_state == BH_TASK_FAILED && event.status == BH_HTTP_STATUS)
        #expect(event.error_domain == BH_DOMAIN_HTTP && event.error_detail == 404)
        #expect(text(event.error_message) == "the server responded 404")
        #expect(event.path == nil && event.final_url == nil && event.media_type == nil && event.headers == nil)
        #expect(event.user_data == nil && event.user_data_size == 0)
        let body = UnsafeRawBufferPointer(start: event.error_body, count: event.error_body_size)
        #expect(String(decoding: body, as: UTF8.self) == "no such page")
    }

    @Test("in a batch, the event of a finished session has no values in the fields for tasks")
    func finished() throws {
        let batch = try Batch(
            .events(
                [Event(id: EventID(rawValue: 9), round: 3, timeMilliseconds: 5, kind: .sessionFinished)], more: false))
        // The structs have pointers into the batch.
        defer { withExtendedLifetime(batch) {} }
        let event = try #require(batch.event(at: 0)).pointee
        #expect(event.kind == BH_EVENT_SESSION_FINISHED && event.id == 9 && event.round == 3 && event.time_ms == 5)
        #expect(event.task_id == 0 && event.task_state == 0 && event.url == nil && event.size == 0)
    }

    @Test("a task in a batch has its state, reason, attempts, last failure and progress")
    func tasks() throws {
        let task = TaskInfo(
            id: TaskID(rawValue: 4), round: 1, state: .waiting, reason: .retry, reasonText: "tried again at noon",
            nextAttemptMilliseconds: 99, url: "http://example.org/", destinationPath: "/x/y", idempotencyKey: nil,
            userData: [], priority: -7, failure: Failure(.connectionLost, "it broke"), httpStatus: 200, attempts: 3,
            offset: 10, size: nil, bytesPerSecond: 11, enqueuedMilliseconds: 12)
        let batch = try Batch(.tasks([task], more: false))
        // The structs have pointers into the batch.
        defer { withExtendedLifetime(batch) {} }
        let item = try #require(batch.task(at: 0)).pointee
        #expect(item.struct_size == MemoryLayout<bh_task_info>.size)
        #expect(item.id == 4 && item.round == 1 && item.state == BH_TASK_WAITING && item.reason == BH_REASON_RETRY)
        #expect(item.next_attempt_ms == 99 && item.priority == -7)
        #expect(item.status == BH_CONNECTION_LOST && item.http_status == 200 && item.attempts == 3)
        #expect(item.offset == 10 && item.size == .max && item.bytes_per_second == 11 && item.enqueued_ms == 12)
        #expect(item.idempotency_key == nil && item.user_data != nil && item.user_data_size == 0)
    }

    @Test("a task in a batch has exactly the constraints that the host gave")
    func constraints() throws {
        var stated = Constraints()
        stated.preset = .overnight
        stated.requiresExternalPower = false
        stated.minimumBytesPerSecond = 9
        stated.quietHours = QuietHours("22:00-06:30")
        var task = TaskInfo(
            id: TaskID(rawValue: 4), round: 1, state: .waiting, reason: .slot, reasonText: nil,
            nextAttemptMilliseconds: 0, url: "http://example.org/", destinationPath: nil, idempotencyKey: nil,
            userData: nil, priority: 0, failure: nil, httpStatus: 0, attempts: 0, offset: 0, size: nil,
            bytesPerSecond: 0, enqueuedMilliseconds: 12)
        let plain = task
        task.constraints = Boxed(stated)
        let batch = try Batch(.tasks([task, plain], more: false))
        // The structs have pointers into the batch.
        defer { withExtendedLifetime(batch) {} }
        let constraints = try #require(batch.task(at: 0)?.pointee.constraints).pointee
        #expect(constraints.preset == BH_PRESET_OVERNIGHT && constraints.requires_external_power == BH_NO)
        #expect(constraints.requires_unmetered == BH_DEFAULT && constraints.minimum_bytes_per_second == 9)
        #expect(text(constraints.quiet_hours) == "22:00-06:30")
        #expect(batch.task(at: 1)?.pointee.constraints == nil)
    }

    @Test("the texts in a batch are valid until the batch is released")
    func texts() throws {
        let batch = try Batch(.events((1...2_000).map { ended($0, Outcome(state: .cancelled)) }, more: false))
        for index in 0..<2_000 {
            // The structs have pointers into the batch.
            defer { withExtendedLifetime(batch) {} }
            let event = try #require(batch.event(at: index)).pointee
            #expect(text(event.url) == "https://example.org/\(index + 1)")
            #expect(text(event.idempotency_key) == "key \(index + 1)")
        }
    }

    @Test("user data in a batch may be larger than a block of the batch's memory, and is aligned to 16 bytes")
    func large() throws {
        let large = [UInt8](repeating: 3, count: 200_000)
        let batch = try Batch(
            .events(
                [[1], large, [2, 2]].map { ended(1, Outcome(state: .cancelled), userData: $0) }, more: false))
        for (index, size) in [1, 200_000, 2].enumerated() {
            // The structs have pointers into the batch.
            defer { withExtendedLifetime(batch) {} }
            let event = try #require(batch.event(at: index)).pointee
            #expect(event.user_data_size == size)
            #expect(UInt(bitPattern: event.user_data) % 16 == 0)
            #expect(text(event.url) == "https://example.org/1")
        }
    }

    @Test("a session in a batch has its counts, and the reasons why it needs its host")
    func sessions() throws {
        let quiet = SessionInfo(
            identifier: "quiet", round: 0, liveTasks: 0, events: 0, hasFinishedRound: false, isInvalidating: false,
            consumer: 0, createdMilliseconds: 1, newestEvent: .zero)
        let busy = SessionInfo(
            identifier: "b\u{FC}sy", round: 5, liveTasks: 6, events: 7, hasFinishedRound: true, isInvalidating: true,
            consumer: 8, createdMilliseconds: 9, newestEvent: EventID(rawValue: 10))
        let batch = try Batch(.sessions([quiet, busy], more: false))
        // The structs have pointers into the batch.
        defer { withExtendedLifetime(batch) {} }
        let first = try #require(batch.session(at: 0)).pointee
        #expect(text(first.identifier) == "quiet" && first.attention == 0 && !first.is_invalidated)
        let second = try #require(batch.session(at: 1)).pointee
        #expect(second.struct_size == MemoryLayout<bh_session_info>.size)
        #expect(text(second.identifier) == "b\u{FC}sy" && second.round == 5 && second.live_tasks == 6)
        #expect(second.events == 7 && Int(second.attention) == BH_ATTENTION_EVENTS | BH_ATTENTION_FINISHED)
        #expect(second.is_invalidated && second.consumer == 8 && second.created_ms == 9)
    }

    @Test("in a configuration in a batch, each field that the host did not set has its default")
    func configuration() throws {
        var given = SessionConfiguration(identifier: "gallery")
        given.tolerances = .earlyResponse
        let batch = try Batch(.configuration(given))
        // The structs have pointers into the batch.
        defer { withExtendedLifetime(batch) {} }
        let configuration = try #require(batch.configuration(at: 0)).pointee
        #expect(text(configuration.identifier) == "gallery" && configuration.connections_per_origin == 6)
        #expect(configuration.retry.maximum_attempts == 0 && configuration.rules.resource_timeout_ms == 604_800_000)
        #expect(configuration.tls.ca_file == nil && Int(configuration.tolerances) == BH_TOLERATE_EARLY_RESPONSE)
    }

    @Test("a batch returns nothing for a wrong kind of item or an index out of range", arguments: [-1, 1, .max, .min])
    func nothing(index: Int) throws {
        let batch = try Batch(.sessions([], more: false))
        #expect(batch.count == 0 && !batch.more)
        #expect(batch.session(at: 0) == nil && batch.session(at: index) == nil)
        #expect(batch.event(at: 0) == nil && batch.task(at: 0) == nil && batch.configuration(at: 0) == nil)
    }
}
