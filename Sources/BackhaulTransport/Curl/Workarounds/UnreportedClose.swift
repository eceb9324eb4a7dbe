/// Needed by: libcurl before 8.2.0. Fixed in: 8.2.0 (commit a70d97c46c).
///
/// libcurl connects to several addresses at the same time, and uses the socket that connects first. It closes the
/// sockets that connect later without a call of CURLOPT_CLOSESOCKETFUNCTION. So the table of sockets may still have a
/// closed socket with the number of a new socket. libcurl does not request a watch for the new socket, because it has
/// requested one for the old socket. The event loop does not watch the new socket, because the kernel has removed the
/// closed socket from the loop's set of descriptors. So the transport renews the watch.
extension SocketTable {
    /// Removes a closed socket with the number of a new socket. Returns whether there was one.
    func forgetUnreportedClose(_ number: Int32) -> Bool {
        guard Workaround.unreportedClose.isActive, contains(number) else { return false }
        forget(number)
        return true
    }
}
