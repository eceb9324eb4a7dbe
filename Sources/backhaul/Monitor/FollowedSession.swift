import Backhaul

/// A session of the live screen, and the transfers that were read of it.
final class FollowedSession {
    let key: SessionKey
    let handle: Session
    private(set) var rows = SessionRows()
    /// The number of transfers that have not ended, as the session's listing states it.
    private(set) var live = 0
    /// The session as its last listing had it.
    private(set) var info: SessionInfo?
    /// The last transfer that was read in rotation. Nil at the start of a rotation.
    private(set) var cursor: TaskID?
    /// Whether a rotation has read all transfers.
    private(set) var isComplete = false
    /// The number of rotations that have ended.
    private(set) var rotations = 0
    private var state: [UInt64] = []
    /// How many more rotations are read, although nothing in the listing of sessions has changed.
    private var rotationsLeft = 1

    init(_ key: SessionKey, _ handle: Session) {
        self.key = key
        self.handle = handle
    }

    /// Whether transfers of the session may have changed.
    var isBusy: Bool { live > 0 || rotationsLeft > 0 }

    /// Takes over the listing of the session. A session without live transfers is read only when its listing changes.
    func note(_ info: SessionInfo) {
        let now = [info.liveTasks, info.events, info.round, info.openChallenges]
        if now != state { rotationsLeft = 1 }
        state = now
        self.info = info
        live = Int(clamping: info.liveTasks)
    }

    /// The transfers to read besides the running ones: those that ran before, and those on the screen.
    func others(than running: [TaskInfo], shown: [RowKey]) -> Set<TaskID> {
        let former = rows.rows.lazy.filter { $0.task.state == .running }.map(\.key.id)
        return Set(former).union(shown.lazy.filter { $0.session == self.key }.map(\.id))
            .subtracting(running.map(\.id))
    }

    /// Takes over new readings. The transfers `absent` are no longer listed.
    func update(_ tasks: [TaskInfo], absent: Set<TaskID>) {
        rows.update(tasks.map { TransferRow($0, session: key) })
        rows.remove(absent)
    }

    /// Takes over the next page of a rotation.
    func take(_ page: [TaskInfo], more: Bool) {
        rows.replace(
            after: cursor, through: more ? page.last?.id : nil, by: page.map { TransferRow($0, session: key) })
        cursor = more ? page.last?.id : nil
        if more { return }
        isComplete = true
        rotationsLeft = max(0, rotationsLeft - 1)
        rotations += 1
    }
}
