internal import BackhaulModel

/// Needed by: libcurl before 8.1.0. Fixed in: 8.1.0 (commit 4033642930).
///
/// If the transfer coding of a response is `identity`, libcurl ignores Content-Length and waits for the end of the
/// connection. The transport then ends the body at Content-Length (`BodyEnd.length`).
extension HeadCollector {
    var hasIgnoredLength: Bool { Workaround.ignoredLength.isActive && TransferCodings(fields) == .identity }
}
