internal import BackhaulModel
internal import BackhaulStore

/// What should happen in another part of the engine. The functions of a part return effects. `EngineLoop.apply`
/// performs them between the call-backs of the loop, first in, first out.
///
/// Cases with large values are indirect, so that an effect is small. An effect is copied several times, and constant
/// arrays of large effects would make the library larger.
enum EngineEffect {
    // MARK: The engine as a whole

    /// The engine cannot continue.
    indirect case fail(Failure)
    /// The code that started the engine has to stop it, for this reason.
    indirect case end(EngineEnd)
    /// All running tasks have begun to stop, because the engine stops.
    case drainingBegan
    /// Work ended, and it may have been the last work.
    case mayBeIdle
    /// Work was done. Memory is returned to the system some time after the last effect of this kind.
    case workDone
    /// There was no work for some time. Unused memory is returned to the system.
    case releaseMemory
    /// The daemon has nothing to do. If no client has connected meanwhile, the daemon ends.
    case exitIfUnconnected
    /// A socket or another file of the store's directory was removed or replaced.
    case storeDirectoryChanged
    /// The engine checks whether the machine's clock was set (a clock step).
    case checkCalendar
    /// The store could not do this work for now. The work is repeated after a second.
    case retryLater(() -> Void)

    // MARK: Running tasks

    /// A second has passed while tasks run.
    case tick
    case attempt(RunningAttempt, AttemptEffect)

    // MARK: Clients

    /// Rows of the store changed. Clients are notified about new events. If a session now needs its program, the engine
    /// checks whether to launch the program. Activities whose tasks ended are checked.
    indirect case announce(Change)
    /// There is a new event. The client of this connection reads events of a session, but its process may be stopped
    /// (SIGSTOP). So the engine checks whether to launch the program.
    case eventFor(ConnectionID)
    /// A connection has ended: the client closed it, or the client's process ended.
    case disconnected(ConnectionID)
    /// A client waited for the right to read the events of a session, and now has this right.
    indirect case opened(OpenedSession, SessionOpening, ConsumerIdentity)

    /// Clients have lost the right to read events, so their application has to be checked: perhaps its program must be
    /// launched. Nil: all applications.
    case checkLaunches(of: String?)
    /// The engine has started a program, or could not start it.
    case launched(EngineCounters.LaunchResult)

    // MARK: Tasks

    /// Slots, limits or lanes changed. Tasks that may start are started at the end of this iteration of the loop.
    case schedule
    /// The conditions of waiting tasks are judged, and then tasks that may start are started.
    case startReadyTasks
    /// Tasks that may start are started.
    case startNext
    /// The task has its slot and is started. `runsAlone`: its lane may run only one task at a time.
    indirect case start(StoredTask, runsAlone: Bool)
    /// The next tasks of the lane are loaded from the store. `limit`: the largest number of these tasks.
    case load(LaneID, limit: Int)
    /// A more important task waits. The least important running task at this origin is preempted. Nil means all
    /// origins.
    /// `sparesTasks`: whether it is enough that an upload with several connections releases one of them.
    case preempt(at: Origin?, sparesTasks: Bool)
    /// The store could not change the tasks of these lanes for now. The lanes are loaded again after a second.
    case reloadLater(Set<LaneID>)
    /// The scheduler has many lanes, and forgets the unused lanes.
    case forgetLanes
    /// Tasks of these lanes are due, so the lanes are not held any more because of a missing route.
    case retryRoutes(Set<LaneID>)
    /// There is no route to the servers of these lanes, so the lanes became held. Or there is a route again, and the
    /// lanes were released.
    case holdChanged(Set<LaneID>)
    /// The ends of these tasks, which all belong to one session, are in the store. The change is nil if no row changed:
    /// each of the tasks had already ended, or was removed.
    indirect case ended([Ending], Change?)
    /// The store could not write the end of a task for now.
    indirect case notEnded(Ending, Failure)
    /// An origin was paused, the limit or the running tasks of a limited origin changed, or tasks for it were loaded.
    case originsChanged
    /// These lanes had no route to their servers, and were released. The store has a record of the wait of each lane.
    /// If no task of a lane runs or is ready, the record of its wait ends now.
    case endWaits(Set<LaneID>)
    /// No task of these lanes waits for a route any more, since this time in Unix milliseconds.
    case routeNotNeeded(Set<LaneID>, since: Int64)
    /// Credentials of the session changed. The engine determines again which lanes may run only one task at a time.
    case credentialsChanged(SessionID)
    /// If ready tasks of the session now have to wait for a credential, these tasks are moved back to the store.
    case parkReadyTasks(of: SessionID)

    /// Tasks wait in these lanes. `reload`: whether the loaded tasks may be in the wrong order.
    case tasksWait(in: Set<LaneID>, reload: Bool, priority: Int32 = .min)
    /// Tasks are due now. Their delays are ended in the store.
    case releaseDue
    /// A delayed task is due at this time of the boot clock.
    case due(at: Int64?)
    /// After this time, in Unix milliseconds, the preset of a task does not delay the task any more.
    case latestStart(at: Int64?)
    /// The calendar clock was set. The times in the store's rows were changed by this many milliseconds.
    case calendarStepped(by: Int64)
    /// The deadlines of waiting tasks are checked.
    case checkDeadlines
    /// These transfers may continue.
    case resume([TaskID])
    /// The files of these tasks are complete, and only have to get their final names.
    case finish([StoredTask])
    /// The resource time-outs of these waiting tasks are over.
    case endOverdue([StoredTask])
    /// The constraints of these tasks changed.
    indirect case restated(RestatedTasks)

    // MARK: Conditions

    /// A condition, such as power or network, may have changed. The engine judges each group of tasks with the same
    /// constraints: it decides whether the tasks may run.
    case conditionsChanged
    /// Whether networks are metered, by the settings of the administrator.
    case metered([String: Bool])
    /// Activities with an open window depend on these conditions.
    case activitiesNeed(ConditionSet)
    /// All groups were judged. The tasks of held groups (which must wait) were stopped.
    case conditionsDecided
    /// All received bytes are saved, or the longest delay of the sleep is over, so the machine may sleep.
    case readyToSleep
    /// All groups are judged at the end of this iteration of the loop, one time for all such effects.
    case reconsider
    /// Groups without tasks are forgotten at the end of this iteration of the loop.
    case prune
    /// The time of the next check of the conditions may have changed.
    case scheduleCheck
    /// The clock or the time zone was set, or the machine has slept.
    case clockWasSet
    /// A decision about held tasks.
    indirect case hold(HoldAction)
    /// The subject begins to wait. The store gets a wait record for each scope.
    indirect case waitBegan(WaitSubject, [WaitScope], Hold)
    /// The wait of the subject ended at this time, in Unix milliseconds.
    indirect case waitEnded(WaitSubject, at: Int64)
    /// Tasks of the session wait in the store, so their resource time-outs have to be watched.
    case tasksHeld(of: SessionID)
    /// This held task is started as a probe: its transfer tests whether the held tasks may run again.
    indirect case startProbe(StoredTask, LaneGroup, ProbeKind)
    /// Tasks that were too large for a budget (the bytes that may be moved in a day or month) may fit now.
    case reevaluateDelayed
}
