import CBackhaul
import Glibc

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
let allReasons = BH_REASON_SLOT...BH_REASON_PORTAL

func task(
    _ reason: Int, state: Int = BH_TASK_WAITING, text: String? = nil, next: Int64 = 0, latest: Int64 = 0,
    id: UInt64 = 12, error: String? = nil, offset: UInt64 = 0, stated: ConstraintsRecord? = nil
) -> TaskRecord {
    let arena = CStringArena()
    var task = bh_task_info()
    task.id = id
    task.state = Int32(state)
    task.reason = Int32(reason)
    task.reason_text = arena.optionalString(text)
    task.next_attempt_ms = next
    task.latest_start_ms = latest
    task.url = arena.string("https://example.org/large.iso")
    task.destination = arena.string("/home/ann/large.iso")
    task.error_message = arena.optionalString(error)
    task.ended_ms = state >= BH_TASK_SUCCEEDED ? evening - hour : 0
    task.offset = offset
    task.size = UInt64.max
    task.constraints = stated.flatMap { arena.array([$0.constraints(arena)]) }
    return TaskRecord(task)
}

func attempt(_ number: UInt32, started: Int64, status: Int32, error: String) -> AttemptRecord {
    let arena = CStringArena()
    var attempt = bh_attempt()
    attempt.number = number
    attempt.started_ms = started
    attempt.status = bh_status(BH_HTTP_STATUS)
    attempt.http_status = status
    attempt.error_message = arena.string(error)
    attempt.url = arena.string("https://example.org/large.iso")
    return AttemptRecord(attempt)
}

func challenge(_ id: UInt64, origin: String, schemes: Int, realm: String?) -> ChallengeRecord {
    let arena = CStringArena()
    var challenge = bh_challenge()
    challenge.id = id
    challenge.kind = Int32(BH_CHALLENGE_SERVER)
    challenge.schemes = UInt32(schemes)
    challenge.origin = arena.string(origin)
    challenge.realm = arena.optionalString(realm)
    return ChallengeRecord(challenge)
}

func wait(_ reason: Int, from: Int64, to: Int64?) -> WaitRecord {
    var wait = bh_wait_record()
    wait.reason = Int32(reason)
    wait.began_ms = from
    wait.ended_ms = to ?? 0
    return WaitRecord(wait)
}

func condition(
    _ kind: Int, _ value: Int64, _ text: String, name: String? = nil, isKnown: Bool = true
) -> ConditionRecord {
    let arena = CStringArena()
    var condition = bh_condition()
    condition.kind = Int32(kind)
    condition.is_known = isKnown
    condition.value = value
    condition.name = arena.optionalString(name)
    condition.text = arena.string(text)
    condition.source = arena.string("/sys/class/power_supply/AC")
    condition.since_ms = evening - 6 * minute
    return ConditionRecord(condition)
}

func explanation(
    _ task: TaskRecord, waits: [WaitRecord] = [], facts: WaitFacts = WaitFacts()
) -> Explanation {
    Explanation(
        task: task, session: "photos", waits: waits, facts: facts, now: evening,
        command: { (["backhaul"] + $0 + ["--session", "photos"]).map(Text.quoted).joined(separator: " ") })
}
