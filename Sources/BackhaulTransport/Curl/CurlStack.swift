internal import BackhaulLoop
internal import BackhaulModel

/// libcurl's multi handle for one connection identity, with its easy handles and sockets. They are created and released
/// together.
final class CurlStack {
    let identity: ConnectionIdentity
    let multi: MultiHandle
    let handles: EasyHandles
    /// The number of running transfers.
    private(set) var count = 0
    /// When the last transfer ended, in boot-clock milliseconds. Valid while none is running.
    private(set) var idleSince: Int64 = 0
    private var hasSwept = false

    init(_ loop: Loop, _ identity: ConnectionIdentity, stir: @escaping () -> Void) throws(Failure) {
        self.identity = identity
        multi = try MultiHandle(loop, stir: stir)
        handles = EasyHandles(identity) { [unowned multi] number in multi.watchAgain(number) }
    }

    /// Guards a new HTTP/2 connection, so that a flood of frames on it cannot block the loop.
    func guardTurns(_ easy: EasyHandle?, _ socket: ConnectionSocket) {
        easy?.reportRecords(to: multi.turns, socket)
    }

    func began() { count += 1 }

    func ended(now: Int64) {
        count -= 1
        idleSince = now
    }

    /// Closes idle connections that their servers have ended, because each takes a descriptor. Makes one poll(2) call
    /// for each connection.
    func closeEndedConnections() {
        guard handles.haveEndedConnections else {
            hasSwept = false
            return
        }
        // libcurl 7.88.1 considers a TLS connection alive while close_notify is unread (ossl_check_cxn). A second sweep
        // therefore closes all connections that are idle for more than a second.
        multi.closeEndedConnections(includingIdle: hasSwept)
        hasSwept = true
    }

    /// Ends the transfers of these handles and closes all connections, unless the host has closed a socket or a
    /// descriptor of the loop. `used`: the handles that are in the multi handle.
    func giveUp(_ used: [EasyHandle], onBrokenLoop: Bool) {
        if onBrokenLoop || !handles.socketsAreOurs { return abandon(used) }
        for easy in used { multi.remove(easy) }
        multi.close()
    }

    /// Leaks the stack deliberately, because libcurl cannot handle lost sockets. It would write its TLS close_notify to
    /// a descriptor that may be the host's now.
    private func abandon(_ used: [EasyHandle]) {
        multi.forget()
        // Unsafe: this only adds references, which are never released.
        for object in used as [AnyObject] + [self] { _ = Unmanaged.passRetained(object) }
    }
}
