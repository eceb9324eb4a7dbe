import BackhaulModel

/// Generates constraints (demands of tasks on the system), conditions of the system, networks, and activities.
extension Generator {
    mutating func constraints() -> Constraints {
        var constraints = Constraints()
        constraints.visitFields(with: &self)
        return constraints
    }

    mutating func quietHours() -> QuietHours {
        let texts = ["22:00-06:30", "mon-fri 08:00-18:00, sat 10:00-14:00", "sun 00:00-24:00"]
        return pick(texts.compactMap(QuietHours.init))
    }

    mutating func budget() -> ByteBudget {
        ByteBudget(daily: optional { $0.integer() }, monthly: optional { $0.integer() })
    }

    mutating func wait() -> WaitRecord {
        var wait = WaitRecord(any(), text(), beganMilliseconds: integer(), endedMilliseconds: optional { $0.integer() })
        wait.task = id()
        return wait
    }

    mutating func condition() -> ConditionInfo {
        ConditionInfo(
            kind: any(), isKnown: bool(), value: integer(), name: optional { $0.text() }, text: text(), source: text(),
            sinceMilliseconds: integer())
    }

    mutating func hold() -> HoldInfo {
        HoldInfo(
            application: text(), session: text(), origin: optional { $0.text() },
            hold: Hold(any(), text(), nextCheckMilliseconds: optional { $0.integer() }), beganMilliseconds: integer(),
            tasks: integer())
    }

    mutating func networkSettings() -> NetworkSettings {
        var settings = NetworkSettings(name: text())
        settings.isMetered = optional { $0.bool() }
        settings.monthStartsOn = integer()
        settings.budget = budget()
        return settings
    }

    mutating func network() -> NetworkInfo {
        var network = NetworkInfo(networkSettings())
        network.kind = optional { NetworkKinds(rawValue: $0.integer()) }
        network.isCurrent = bool()
        network.usedToday = integer()
        network.usedThisMonth = integer()
        network.dayEndsMilliseconds = integer()
        network.monthEndsMilliseconds = integer()
        return network
    }

    mutating func activity() -> Activity {
        var activity = Activity(
            identifier: text(), intervalMilliseconds: integer(), toleranceMilliseconds: integer() as UInt64)
        activity.repeats = bool()
        activity.qualityOfService = any()
        activity.request = optional { $0.request() }
        activity.firstMilliseconds = optional { $0.integer() }
        return activity
    }

    mutating func activityInfo() -> ActivityInfo {
        ActivityInfo(
            identifier: text(), intervalMilliseconds: integer(), toleranceMilliseconds: integer(), repeats: bool(),
            qualityOfService: any(), nextMilliseconds: integer(), lastStartedMilliseconds: optional { $0.integer() },
            lastTask: optional { $0.id() }, url: optional { $0.text() })
    }
}
