internal import CCurl

/// Needed by: libcurl before 8.4.0. Fixed in: 8.4.0 (https://github.com/curl/curl/issues/11920).
///
/// When an address of a server does not respond, libcurl abandons that address. libcurl opens the socket of the next
/// address only in a further call, and must request this call with the timer. But libcurl sets the timer too late, to
/// the end of the next address's time-out (lib/connect.c, baller_start_next). So the transport makes the further call.
///
/// Unsafe: the caller owns the multi handle.
func openLateAddresses(_ multi: UnsafeMutableRawPointer) -> CURLMcode {
    var running: Int32 = 0
    return bhl_multi_act_on_all(multi, &running)
}
