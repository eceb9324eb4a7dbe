import Backhaul

extension Network {
    var kindWord: String? { kind?.members.first }

    var json: JSON {
        .record(
            "bh_network",
            [
                ("name", .string(name)), ("metered", .choice(isMetered)),
                ("month_starts_on", .number(monthStartsOn ?? 1)),
                ("budget", budget.json), ("kind", .optional(kindWord)), ("is_current", .bool(isCurrent)),
                ("used_today", .number(usedToday)), ("used_this_month", .number(usedThisMonth)),
                ("day_ends_ms", .number(dayEndsMilliseconds)), ("month_ends_ms", .number(monthEndsMilliseconds)),
            ])
    }
}

extension Backhaul.Limits {
    var json: JSON {
        .record(
            "bh_limits",
            [
                ("bytes_per_second", .number(bytesPerSecond)), ("maximum_running_tasks", .number(maximumRunningTasks)),
                ("maximum_connections", .number(maximumConnections)),
                ("connections_per_origin", .number(connectionsPerOrigin)),
            ])
    }
}

extension ApplicationInfo {
    var json: JSON {
        .record(
            "bh_application_info",
            [
                ("identifier", .string(identifier)), ("sessions", .number(sessions)),
                ("live_tasks", .number(liveTasks)), ("running_tasks", .number(runningTasks)),
                ("events", .number(events)), ("hosts", .number(hosts)), ("has_launch_command", .bool(hasLaunchCommand)),
            ])
    }
}

extension ActivityInfo {
    var json: JSON {
        .record(
            "bh_activity",
            [
                ("identifier", .string(identifier)), ("interval_ms", .milliseconds(interval)),
                ("tolerance_ms", .milliseconds(tolerance)), ("repeats", .bool(repeats)),
                ("quality_of_service", .word(qualityOfService)), ("next_ms", .number(unlessZero: nextMilliseconds)),
                ("next_ends_ms", .number(unlessZero: nextEndsMilliseconds)),
                ("last_started_ms", .number(lastStartedMilliseconds)), ("last_task", .id(lastTask)),
                ("url", .optional(url)),
            ])
    }
}
