internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The ages of tasks, on a machine whose calendar somebody sets.
extension EngineCore {
    /// No timer runs for longer to a time of the calendar: whoever is wrong about that is so for a day at most.
    static let longestLook: Int64 = 86_400_000

    /// The calendar by which the rows' times were taken. It goes with the boot clock, and is set with the rows.
    var calendarMilliseconds: Int64 { Clock.bootMilliseconds + calendarOffset }

    /// Until the task's resource time-out, which stands still while it is suspended.
    func remainingMilliseconds(of task: StoredTask, _ configuration: SessionConfiguration) -> Int64 {
        let limit = task.request.options.policy.resourceTimeoutMilliseconds ?? configuration.resourceTimeoutMilliseconds
        return Int64(clamping: limit) - (calendarMilliseconds - task.enqueuedMilliseconds - task.suspendedMilliseconds)
    }

    static func readClock() -> ClockReading {
        ClockReading(
            wall: Clock.wallMilliseconds, boot: Clock.bootMilliseconds, bootID: ProcessIdentity.currentBootID)
    }

    /// Once when the engine begins: everything read from then on has the times of this calendar.
    func beginCalendar(_ reading: ClockReading) { calendarOffset = reading.wall - reading.boot }

    /// From time to time, while something is done anyway: nothing depends on when.
    func lookAtCalendar() {
        let reading = EngineCore.readClock()
        let distance = abs(reading.wall - reading.boot - calendarOffset)
        guard !calendarMoves, distance >= CalendarJump.tolerance else { return }
        calendarMoves = true
        store({ (transaction) throws(Failure) in try transaction.adopt(reading) }, then: { core, result in
            core.calendarMoves = false
            guard case .success(let jump) = result else { return }
            core.calendarOffset = reading.wall - reading.boot
            for id in core.ready.keys { core.ready[id]?.enqueuedMilliseconds += jump }
            for runner in core.runners.values { runner.task.enqueuedMilliseconds += jump }
            core.lookAtActivities()
            // Earliest starts are times on the wall.
            if jump != 0 { core.releaseDue() }
        })
    }
}
