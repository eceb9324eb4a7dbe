internal import BackhaulModel
internal import BackhaulStore

/// What a part of the engine wants to happen outside of it. `EngineLoop.apply` does it after the part has returned.
///
/// Large values are indirect: an effect is copied several times, and constant arrays of effects are data of the
/// library.
enum EngineEffect {
    // MARK: The engine as a whole

    /// The engine cannot go on.
    indirect case fail(Failure)
    /// The engine is to be stopped, for this reason.
    indirect case end(EngineEnd)
    /// Something ended that may have been the last thing to do.
    case mayBeIdle
    /// Something was done: memory is given back some time after the last of these.
    case worked
    /// Nothing is done for a while: memory that the work has left is returned to the system.
    case giveMemoryBack
    /// A daemon without anything to do ends, unless a client has connected in this moment.
    case leaveIfUnconnected
    /// A socket or another file of the store's directory was removed or replaced.
    case storeDirectoryChanged
    /// Something is done anyway: a clock step is noticed now.
    case lookAtCalendar
    /// The store could not do this for now; it is repeated a second later.
    case retryLater(() -> Void)

    // MARK: Clients

    /// Rows changed: clients learn of new events, and launches and activities that depend on them are looked at.
    indirect case announce(Change)
    /// An event comes for the consumer on this connection, whose process may be stopped.
    case eventFor(ConnectionID)
    /// A handle that waited for its session has it now.
    indirect case opened(OpenedSession, SessionOpening, ConsumerIdentity)

    // MARK: Tasks

    /// Slots, lanes or limits changed: what may start is started at the end of the turn.
    case schedule
    /// The end of the turn has come: what may start now is started.
    case startReadyTasks
    /// The task has its slot. `isProbe`: its lane tries one task at a time.
    indirect case start(StoredTask, isProbe: Bool)
    /// The next tasks of the lane are to be loaded from the store, so many at most.
    case load(LaneID, limit: Int)
    /// An urgent task waits: the least important running one, of this origin unless it is nil, gives its slot back.
    case preempt(at: Origin?)
    /// The store could not change the tasks of these lanes for now: they are loaded again a second later.
    case reloadLater(Set<LaneID>)
    /// What holds these lanes as a whole has changed.
    case holdChanged(Set<LaneID>)
    /// These ends of tasks of one session are in the store. Nil: all tasks had ended already or were gone.
    indirect case ended([Ending], Change?)
    /// The store could not write the end for now.
    indirect case notEnded(Ending, Failure)
    /// Waits for a route are over in those of these lanes in which no task runs or is ready.
    case endWaits([LaneID])
    /// Which of the session's lanes try one task at a time may have changed.
    case credentialsChanged(SessionID)
    /// Ready tasks of the session that wait for a credential now go back to the store.
    case parkReadyTasks(of: SessionID)

    /// Tasks wait in these lanes. `reload`: what was loaded of them may have the wrong order.
    case tasksWait(in: Set<LaneID>, reload: Bool)
    /// The delays of tasks that are due now are over.
    case releaseDue
    /// A delayed task is due at this time of the boot clock.
    case due(at: Int64?)
    /// A task stops waiting for the wishes of its preset at this Unix time in milliseconds.
    case latestStart(at: Int64?)
    /// The calendar was set: times of rows moved by so many milliseconds.
    case calendarStepped(by: Int64)
    /// These transfers may move bytes again.
    case resume([TaskID])
    /// The time of these waiting tasks is over.
    case endOverdue([StoredTask])
    /// These tasks state other constraints now.
    indirect case restated(RestatedTasks)

    // MARK: Conditions

    /// A condition may have changed: all groups are judged.
    case conditionsChanged
    /// All groups were judged, and the tasks of held ones have left.
    case conditionsDecided
    /// All groups are to be judged, once at the end of the turn.
    case reconsider
    /// Groups without tasks are to be forgotten, once at the end of the turn.
    case prune
    /// The time of the next look may be another.
    case planLook
    /// The calendar or its zone was set, or the machine has slept.
    case clockWasSet
    /// Running tasks of a held group leave, and what they received is synced.
    case deferTasks(HeldTasks, for: WaitReason)
    /// Tasks of the session are held, perhaps until their resource time-out ends.
    case tasksAreHeld(of: SessionID)
    /// This held task is started to find out whether its hold is over.
    indirect case startProbe(StoredTask, LaneGroup, ProbeKind)
    /// Tasks that were too large for a budget may fit now.
    case judgeDelayed
}
