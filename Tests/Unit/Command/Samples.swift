import CBackhaul
import Glibc

@testable import Backhaul
@testable import backhaul

/// Always true. The first use of this constant sets the time zone of this process to Berlin, which has daylight saving
/// time.
let isInBerlin: Bool = {
    setenv("TZ", "Europe/Berlin", 1)
    tzset()
    return true
}()

/// 20 November 2026, 21:10 in Berlin, in Unix milliseconds. The tests use it as the current time, and expect times of
/// Berlin in texts. So its first use sets the time zone.
let evening: Int64 = isInBerlin ? 1_795_205_400_000 : 0
let minute: Int64 = 60_000
let hour: Int64 = 60 * minute

/// Every reason why a task can wait.
let allReasons = Reason.words.map(\.value)

/// Makes a value of the Swift package from a C struct, whose strings the arena owns.
private func sample<Struct, Value>(
    _ empty: Struct, _ make: (Struct) -> Value, fill: (inout Struct, Arena) -> Void
) -> Value {
    let arena = Arena()
    var value = empty
    fill(&value, arena)
    return withExtendedLifetime(arena) { make(value) }
}

extension Arena {
    // Unsafe: the arena owns the copy.
    fileprivate func text(_ text: String?) -> UnsafePointer<CChar>? { text.flatMap { try? string($0, "a text") } }
}

func task(
    _ reason: Reason?, state: TaskState = .waiting, text: String? = nil, next: Int64 = 0, latest: Int64 = 0,
    id: UInt64 = 12, error: String? = nil, offset: UInt64 = 0, stated: Constraints? = nil, round: UInt64 = 0
) -> TaskInfo {
    sample(bh_task_info(), { TaskInfo($0) }) { task, arena in
        task.id = id
        task.round = round
        task.state = state.rawValue
        task.reason = reason?.rawValue ?? 0
        task.reason_text = arena.text(text)
        task.next_attempt_ms = next
        task.latest_start_ms = latest
        task.url = arena.text("https://example.org/large.iso")
        task.destination = arena.text("/home/ann/large.iso")
        task.status = error == nil ? 0 : Status.httpStatus.rawValue
        task.error_message = arena.text(error)
        task.ended_ms = state.hasEnded ? evening - hour : 0
        task.offset = offset
        task.size = UInt64.max
        task.constraints = stated.flatMap { arena.array([try? $0.value(arena)].compactMap { $0 }) }
    }
}

func hold(_ reason: Reason, text: String, began: Int64) -> Hold {
    sample(bh_hold(), { Hold($0) }) { hold, arena in
        hold.reason = reason.rawValue
        hold.reason_text = arena.text(text)
        hold.began_ms = began
    }
}

/// A task that has ended, with a URL that comes from elsewhere.
func endedTask(
    _ id: UInt64, url: String, enqueued: Int64, lasted: Int64, size: UInt64, error: String? = nil
) -> TaskInfo {
    sample(bh_task_info(), { TaskInfo($0) }) { task, arena in
        task.id = id
        task.kind = TaskKind.download.rawValue
        task.state = (error == nil ? TaskState.succeeded : .failed).rawValue
        task.url = arena.text(url)
        task.destination = arena.text("/home/ann/file-\(id)")
        task.status = error == nil ? 0 : Status.httpStatus.rawValue
        task.error_message = arena.text(error)
        task.http_status = error == nil ? 200 : 404
        task.attempts = 2
        task.enqueued_ms = enqueued
        task.ended_ms = enqueued + lasted
        task.offset = error == nil ? size : 0
        task.size = size
    }
}

/// An attempt with all steps. Each of its times is a part of `microseconds`.
func measuredAttempt(_ task: TaskInfo, _ number: UInt32, started: Int64, microseconds: Int64) -> Attempt {
    sample(bh_attempt(), { Attempt($0) }) { attempt, arena in
        attempt.task_id = task.id.rawValue
        attempt.number = number
        attempt.next = Int32(number == 1 ? BH_NEXT_RETRY : BH_NEXT_END)
        attempt.started_ms = started
        attempt.url = arena.text(task.url)
        attempt.http_status = 206
        attempt.domain_lookup_us = microseconds / 11
        attempt.connect_us = microseconds / 7
        attempt.secure_connection_us = microseconds / 5
        attempt.request_start_us = microseconds / 4
        attempt.request_end_us = microseconds / 4
        attempt.response_start_us = microseconds / 2
        attempt.response_end_us = microseconds
        attempt.protocol = arena.text("h2")
        attempt.offset = number == 1 ? 0 : task.size.map { $0 / 3 } ?? 0
        attempt.response_body_bytes = task.size ?? 0
    }
}

func attempt(_ number: UInt32, started: Int64, status: Int32, error: String, body: UInt64 = 0) -> Attempt {
    sample(bh_attempt(), { Attempt($0) }) { attempt, arena in
        attempt.number = number
        attempt.started_ms = started
        attempt.status = Status.httpStatus.rawValue
        attempt.http_status = status
        attempt.response_body_bytes = body
        attempt.error_message = arena.text(error)
        attempt.url = arena.text("https://example.org/large.iso")
    }
}

func challenge(_ id: UInt64, origin: String, schemes: Challenge.Schemes, realm: String?) -> Challenge {
    sample(bh_challenge(), { Challenge($0) }) { challenge, arena in
        challenge.id = id
        challenge.kind = Challenge.Kind.server.rawValue
        challenge.schemes = schemes.rawValue
        challenge.origin = arena.text(origin)
        challenge.realm = arena.text(realm)
    }
}

func wait(_ reason: Reason, from: Int64, to: Int64?) -> Backhaul.Wait {
    sample(bh_wait_record(), { Backhaul.Wait($0) }) { wait, _ in
        wait.reason = reason.rawValue
        wait.began_ms = from
        wait.ended_ms = to ?? 0
    }
}

func condition(
    _ kind: Condition.Kind, _ value: Int64, _ text: String, name: String? = nil, isKnown: Bool = true
) -> Condition {
    sample(bh_condition(), { Condition($0) }) { condition, arena in
        condition.kind = kind.rawValue
        condition.is_known = isKnown
        condition.value = value
        condition.name = arena.text(name)
        condition.text = arena.text(text)
        condition.source = arena.text("/sys/class/power_supply/AC")
        condition.since_ms = evening - 6 * minute
    }
}

/// The present network, of whose monthly budget all bytes are used.
func network(_ name: String, monthly: UInt64) -> Network {
    sample(bh_network(), { Network($0) }) { network, arena in
        network.name = arena.text(name)
        network.is_current = true
        network.budget.monthly = monthly
        network.used_this_month = monthly
    }
}

func explanation(
    _ task: TaskInfo, waits: [Backhaul.Wait] = [], facts: WaitFacts = WaitFacts()
) -> Explanation {
    Explanation(
        task: task, session: "photos", waits: waits, facts: facts, now: evening,
        command: { (["backhaul"] + $0 + ["--session", "photos"]).map(Text.quoted).joined(separator: " ") })
}
