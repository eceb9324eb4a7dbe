internal import BackhaulLoop
internal import BackhaulModel

/// libcurl's multi handle with the easy handles and the sockets that belong to it: begun together, given up together.
final class CurlStack {
    let multi: MultiHandle
    let handles = EasyHandles()

    init(_ loop: Loop, stir: @escaping () -> Void) throws(Failure) {
        multi = try MultiHandle(loop, stir: stir)
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
