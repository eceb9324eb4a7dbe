/// Needed by: libcurl before 8.1.1. Fixed in: 8.1.1 (https://github.com/curl/curl/issues/11101).
///
/// An easy handle keeps a pointer to the freed headers of its last response. If the first header line of the next
/// response begins with a space, libcurl writes to that memory. So each easy handle is used for only one request.
extension EasyHandle {
    var mayBeUsedAgain: Bool { !isSpent && !Workaround.lingeringHeaders.isActive }
}
