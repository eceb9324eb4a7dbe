internal import BackhaulModel
internal import BackhaulStore
internal import CBackhaul
internal import CBackhaulTables

/// All numbers of an engine at one moment, and the list of its metrics. docs/metrics.md has the same list, and a test
/// compares the two. The values of labels are words of the header (`bh_name`), and never texts from outside.
struct EngineMetrics {
    var engine: EngineInfo
    var tasks: [TaskState: UInt64]
    var waits: [WaitReason: UInt64]
    var store: StoreMetrics
    var counters: EngineCounters
    var commits: DurationHistogram
    var syncs: DurationHistogram
    /// The present time in Unix milliseconds.
    var now: Int64

    var text: String {
        OpenMetricsText.write(
            ofEngine + ofTasks + ofTransfers + ofStore, createdMilliseconds: engine.startedMilliseconds)
    }

    private var ofEngine: [MetricFamily] {
        let hosting = engine.isDaemon ? BH_HOSTING_DAEMON : BH_HOSTING_EMBEDDED
        let version = Versions(wire: 0, library: engine.version).libraryText
        return [
            MetricFamily(
                "backhaul_engine", "the version of the engine, and where it runs",
                .info([Label("version", version), Label("hosting", Self.word("bh_hosting", Int32(hosting)))])),
            MetricFamily(
                "backhaul_engine_start_time_seconds", unit: .seconds, "when the engine started, in Unix time",
                Double(engine.startedMilliseconds) / 1_000),
            MetricFamily(
                "backhaul_engine_connections", "open application handles of programs", Double(engine.connections)),
            MetricFamily(
                "backhaul_launches", "launches of programs, by result",
                .counter(
                    EngineCounters.LaunchResult.allCases.map {
                        ([Label("result", $0.rawValue)], counters.launches[$0] ?? 0)
                    })),
        ]
    }

    private var ofTasks: [MetricFamily] {
        let events = store.counters.events
        let age = store.oldestEventMilliseconds.map { max(0, now - $0) } ?? 0
        return [
            MetricFamily("backhaul_sessions", "sessions of all applications", Double(store.counters.sessions)),
            MetricFamily(
                "backhaul_tasks", "tasks by state; an ended task counts until its event is acknowledged",
                .gauge(
                    TaskState.allCases.map { ([Label("state", Self.word($0))], Double(tasks[$0] ?? 0)) })),
            MetricFamily(
                "backhaul_waiting_tasks", "tasks that make no progress, by reason",
                .gauge(
                    WaitReason.allCases.filter { $0 != .none }.map {
                        ([Label("reason", Self.word("bh_reason", $0.rawValue))], Double(waits[$0] ?? 0))
                    })),
            MetricFamily(
                "backhaul_ended_tasks", "tasks that ended, by outcome",
                .counter(
                    TaskState.allCases.filter(\.hasEnded).map {
                        ([Label("outcome", Self.word($0))], counters.endedTasks[$0] ?? 0)
                    })),
            MetricFamily("backhaul_unacknowledged_events", "events that no program has acknowledged", Double(events)),
            MetricFamily(
                "backhaul_oldest_event_age_seconds", unit: .seconds,
                "age of the oldest event that no program has acknowledged; 0 without such an event",
                Double(age) / 1_000),
        ]
    }

    private var ofTransfers: [MetricFamily] {
        let reasons = Status.allCases.filter { Self.endsAttempts.contains($0.rawValue) || counters.retries[$0] != nil }
        return [
            MetricFamily(
                "backhaul_received_bytes", unit: .bytes, "bytes of bodies that were received", counters.receivedBytes),
            MetricFamily("backhaul_sent_bytes", unit: .bytes, "bytes of bodies that were sent", counters.sentBytes),
            MetricFamily(
                "backhaul_resumed_bytes", unit: .bytes,
                "bytes of files that an attempt did not request again, because an earlier attempt had received them",
                counters.resumedBytes),
            MetricFamily(
                "backhaul_attempts", "attempts that sent a request and ended, by outcome",
                .counter(
                    EngineCounters.AttemptOutcome.allCases.map {
                        ([Label("outcome", $0.rawValue)], counters.attempts[$0] ?? 0)
                    })),
            MetricFamily(
                "backhaul_retries", "attempts after which the task is tried again, by the error of the attempt",
                .counter(reasons.map { ([Label("reason", Self.word($0))], counters.retries[$0] ?? 0) })),
        ]
    }

    private var ofStore: [MetricFamily] {
        let sizes: [(String, String, UInt64?)] = [
            ("backhaul_store_database_bytes", "size of the store's database", store.files.database),
            ("backhaul_store_wal_bytes", "size of the write-ahead log of the database", store.files.writeAheadLog),
            ("backhaul_store_free_bytes", "free space of the store's file system", store.files.free),
            ("backhaul_daemon_log_bytes", "size of the daemon's log files in the store", store.files.daemonLogs),
        ]
        return sizes.map { name, help, size in
            MetricFamily(name, unit: .bytes, help, size.map { Double($0) } ?? .nan)
        } + [
            MetricFamily(
                "backhaul_store_commit_duration_seconds", unit: .seconds,
                "durations of the commits of the store, with their syncs", .histogram(commits)),
            MetricFamily(
                "backhaul_disk_sync_duration_seconds", unit: .seconds,
                "durations of the syncs of files, directories and file systems", .histogram(syncs)),
        ]
    }

    // MARK: Words

    private typealias Label = MetricFamily.Label

    /// The statuses with which attempts usually end. They are listed from the start, so that the first increase of a
    /// counter is visible.
    private static let endsAttempts = Status.nameNotResolved.rawValue...Status.addressRefused.rawValue

    private static func word(_ state: TaskState) -> String { word("bh_task_state", state.rawValue) }

    /// BH_CONNECTION_LOST is "connection_lost", as in the JSON of the command line.
    private static func word(_ status: Status) -> String {
        String(word("bh_status", status.rawValue).dropFirst("BH_".count)).lowercased()
    }

    // Unsafe: the texts are static.
    private static func word(_ type: String, _ value: Int32) -> String {
        bht_name(type, Int64(value)).map { String(cString: $0) } ?? "unknown"
    }
}
