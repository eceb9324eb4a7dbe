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
        rows.removeIdle()
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
    func take(_ page: [TaskInfo], more: Bool, hasRoom: Bool) {
        rows.take(page.map { TransferRow($0, session: key) }, more: more, hasRoom: hasRoom)
        if rows.cursor == nil { rotationsLeft = max(0, rotationsLeft - 1) }
    }

    /// Ends the rotation, because the screen is full.
    func endRotation() {
        rows.endRotation()
        rotationsLeft = max(0, rotationsLeft - 1)
    }
}
