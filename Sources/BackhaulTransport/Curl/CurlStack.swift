internal import BackhaulLoop
internal import BackhaulModel

/// libcurl's multi handle for one connection identity (the settings that requests on the same connection share), with
/// its easy handles and sockets. All of these are made and freed together.
final class CurlStack {
    let identity: ConnectionIdentity
    let multi: MultiHandle
    let handles: EasyHandlePool
    /// The number of running transfers.
    private(set) var count = 0
    /// When the last transfer ended, in milliseconds of the boot clock. Valid only while no transfer runs.
    private(set) var idleSince: Int64 = 0

    init(_ loop: Loop, _ identity: ConnectionIdentity, scheduleProcessing: @escaping () -> Void) throws(Failure) {
        self.identity = identity
        multi = try MultiHandle(loop, scheduleProcessing: scheduleProcessing)
        handles = EasyHandlePool(identity) { [unowned multi] number in multi.watchAgain(number) }
    }

    /// Adds a new HTTP/2 connection to the flood guard, so that a flood of frames cannot block the event loop.
    func guardAgainstFlood(_ easy: EasyHandle?, _ socket: ConnectionSocket) {
        easy?.reportRecords(to: multi.floodGuard, socket)
    }

    func began() { count += 1 }

    func ended(now: Int64) {
        count -= 1
        idleSince = now
    }

    /// If servers have ended idle connections, closes these connections, because each of them uses a descriptor. The
    /// check needs one call of poll(2) for each connection.
    func closeEndedConnections() {
        if handles.findEndedConnections() { multi.closeEndedConnections() }
    }

    /// Ends the connections, in use or idle, whose local addresses were removed from this machine. Otherwise a transfer
    /// would wait for its request time-out.
    func resetLostConnections() {
        handles.resetLostConnections()
        closeEndedConnections()
    }

    /// Ends the transfers of the handles in `used`, which are in the multi handle, and closes all connections.
    func close(ending used: [EasyHandle]) {
        for easy in used { multi.remove(easy) }
        multi.close()
    }
}
