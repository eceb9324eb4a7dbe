public import BackhaulModel

/// Operations for commands that change many tasks at once. Hosts send these commands.
public struct ControlOperations {
    let tables: Tables
    private var challenges: ChallengeOperations { ChallengeOperations(tables: tables) }
    private var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }
    private var taskEnds: TaskEndOperations { TaskEndOperations(tables: tables) }
    private var options: OptionOperations { OptionOperations(tables: tables) }
    private var rounds: RoundOperations { RoundOperations(tables: tables) }
    private var starts: StartOperations { StartOperations(tables: tables) }
    private var waits: WaitOperations { WaitOperations(tables: tables) }

    /// Applies the control (a command such as suspend or cancel) to the live tasks of the selection, which are the
    /// tasks that have not ended. Skips tasks that already have the wanted state. Also skips tasks that have a
    /// finish intent and are not delayed: their files are getting their final names. A resume also ends retry delays,
    /// but not the delay of a task that waits for a credential or for its earliest start.
    ///
    /// `running` has the tasks that run at this moment. `now` is the present Unix time. `calendar` is the present time
    /// of the age calendar, which measures the age of tasks (`StartClock.calendar`); nil means `now`.
    /// `bootMilliseconds` is the time since boot. `held` has the lanes and constraints whose tasks are held, because a
    /// condition such as the network does not permit them. The result has the number of selected tasks that are held.
    public func apply(
        _ control: TaskControl, to selection: TaskSelection, of session: SessionID, running: Set<TaskID>, now: Int64,
        calendar: Int64? = nil, bootMilliseconds: Int64 = 0, held: [LaneID: Set<ConstraintsID>] = [:]
    ) throws(Failure) -> Change {
        var change = try tables.sessions.change(in: session)
        let clock = StartClock(wall: now, boot: bootMilliseconds, calendar: calendar ?? now)
        var group: GroupID?
        if let name = selection.group { group = try tables.groups.find(name, in: session) }
        // The selected tasks are in a temporary table, so each step is one statement for any number of tasks.
        if !held.isEmpty {
            let which = Selection.LiveTasks(waiting: true)
            try tables.selection.select(selection, of: session, group: group, running: running, which: which)
            change.held = try tables.selectedTasks.count(in: held)
        }
        try tables.selection.select(
            selection, of: session, group: group, running: running, which: tasksChanged(by: control))
        if case .reschedule(let rescheduling) = control {
            let rescheduled = try starts.rescheduleSelected(rescheduling, of: session, running: running, clock)
            change.restated = rescheduled.restated
            if rescheduled.hasDelayed { change.nextDue = try tables.delays.nextDue() }
        }
        change.tasks = try tables.selection.tasks()
        change.count = UInt64(change.tasks.count)
        if change.count > 0 {
            change.lanes = try tables.selectedTasks.lanes()
            if case .setConstraints(let stated) = control {
                try waits.recordSharedOfSelected(session, count: change.tasks.count, now: clock.calendar)
                change.restated = try constraints.restateSelected(stated, of: session)
            }
            // After other commands, the same tasks wait for the challenges.
            let waitedFor =
                [.cancel, .suspend, .setAside].contains(control) ? try tables.selectedTasks.challenges() : []
            try write(control, to: &change, now: now, clock)
            if control == .setAside { change.nextDue = try tables.delays.nextDue() }
            if control == .resume {
                change.priority = try tables.selectedTasks.highestPriority()
                _ = try starts.delaySelected(clock)
                try tables.delays.delaySelectedDependents(DelayMoment(boot: clock.boot, calendar: clock.calendar))
                change.nextDue = try tables.delays.nextDue()
            }
            change.closedChallenges += try challenges.closeUnused(among: waitedFor, of: session)
            let after = try tables.sessions.change(in: session)
            change.newestEvent = after.newestEvent
            change.needsHost = after.needsHost
        }
        try tables.selection.clear()
        return change
    }

    private func tasksChanged(by control: TaskControl) -> Selection.LiveTasks {
        switch control {
        case .cancel: .init(waiting: true, suspended: true)
        case .suspend: .init(waiting: true, aside: false)
        case .setAside: .init(waiting: true, suspended: true, aside: false)
        case .resume: .init(delayed: true, suspended: true)
        case .setPriority(let priority): .init(waiting: true, suspended: true, priorityOtherThan: priority)
        case .setRate, .setConstraints, .reschedule: .init(waiting: true, suspended: true)
        }
    }

    private func write(
        _ control: TaskControl, to change: inout Change, now: Int64, _ clock: StartClock
    ) throws(Failure) {
        let (session, count) = (change.session, change.tasks.count)
        switch control {
        case .suspend: try tables.selectedTasks.suspend(now: clock.calendar)
        case .setAside:
            let groups = try tables.selectedTasks.groups(endingAs: .waiting)
            try waits.recordSuspensionsOfSelected(session, count: count, now: clock.calendar)
            try tables.selectedTasks.resume(now: clock.calendar)
            try tables.selectedTasks.setAside(DelayMoment(boot: clock.boot, calendar: clock.calendar))
            try tables.sessions.count(aside: Int64(count), in: session)
            try rounds.settle(session, ended: 0, newest: change.newestEvent, groups: groups, now: now)
        case .resume:
            change.withdrawsEnd = try rounds.bringBackSelected(to: session)
            try waits.recordSuspensionsOfSelected(session, count: count, now: clock.calendar)
            try tables.selectedTasks.resume(now: clock.calendar)
        case .setPriority(let priority):
            try tables.selectedTasks.setPriority(priority)
            if priority >= Limits.priorityNow { try tables.selectedTasks.endDelays() }
        case .setRate(let rate):
            try options.makeOfSelected()
            try tables.options.setRateOfSelected(rate)
        case .setConstraints, .reschedule: break
        case .cancel: try taskEnds.endSelected(nil, &change, now: now)
        }
    }
}
