internal import BackhaulLoop
internal import BackhaulModel

/// libcurl's multi handle for one identity, with the easy handles and the sockets that belong to it: begun together,
/// given up together.
final class CurlStack {
    let identity: ConnectionIdentity
    let multi: MultiHandle
    let handles: EasyHandles
    /// Transfers under way.
    private(set) var count = 0
    /// Boot-clock milliseconds of the last end, while none is under way.
    private(set) var idleSince: Int64 = 0
    private var hasSwept = false

    init(_ loop: Loop, _ identity: ConnectionIdentity, stir: @escaping () -> Void) throws(Failure) {
        self.identity = identity
        multi = try MultiHandle(loop, stir: stir)
        handles = EasyHandles(identity) { [unowned multi] number in multi.watchAgain(number) }
    }

    /// A new connection of HTTP/2: no flood of frames on it may occupy the loop.
    func guardTurns(_ easy: EasyHandle?, _ socket: ConnectionSocket) {
        easy?.reportRecords(to: multi.turns, socket)
    }

    func began() { count += 1 }

    func ended(now: Int64) {
        count -= 1
        idleSince = now
    }

    /// Closes idle connections that their servers have ended: each would keep a descriptor here. Makes one
    /// poll(2) call for each connection.
    func closeEndedConnections() {
        guard handles.haveEndedConnections else {
            hasSwept = false
            return
        }
        // libcurl 7.88.1 takes a TLS connection for alive while close_notify is unread (ossl_check_cxn). A second sweep
        // therefore closes all connections that are idle for more than a second.
        multi.closeEndedConnections(includingIdle: hasSwept)
        hasSwept = true
    }

    /// Ends the transfers of these handles and closes all connections, unless a socket or the loop's own descriptors
    /// are not ours any more. `used`: the handles that are in the multi handle.
    func giveUp(_ used: [EasyHandle], onBrokenLoop: Bool) {
        if onBrokenLoop || !handles.socketsAreOurs { return abandon(used) }
        for easy in used { multi.remove(easy) }
        multi.close()
    }

    /// Leaves everything where it is, for ever: libcurl cannot be told that its sockets are gone, and its leave from a
    /// TLS connection would be written to a descriptor that may be the host's by now.
    private func abandon(_ used: [EasyHandle]) {
        multi.forget()
        // Unsafe: this only adds references that nobody takes back.
        for object in used as [AnyObject] + [self] { _ = Unmanaged.passRetained(object) }
    }
}
