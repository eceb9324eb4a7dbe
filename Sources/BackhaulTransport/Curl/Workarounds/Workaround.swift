/// The faults of libcurl around which this module works. Each case has a file in this folder, with the same name.
/// A work-around for a fault that every version has (`fixedIn` is nil) is always active.
/// `Tests/Tidy/test_workarounds.py` compares the cases with the files and with docs/internals/transport.md.
enum Workaround: CaseIterable {
    case connectBody, droppedExcess, earlyStop, fragmentLocation, frameFlood, idleErrors, ignoredLength
    case lateNextAddress, lingeringHeaders, longHeaderLine, lostEarlyResponse, plainHTTP2Reuse, silentViolation
    case unmarkedEnd, unreadCloseNotify, unreportedClose, unsolicitedInput

    /// The first version of libcurl without the fault, in the form of `curl_version_info`: one byte each for the major
    /// and the minor number and the patch. Nil if version 8.21.0 still has the fault.
    var fixedIn: UInt32? {
        switch self {
        case .plainHTTP2Reuse, .unreadCloseNotify: 0x080000
        case .ignoredLength, .lostEarlyResponse, .unmarkedEnd: 0x080100
        case .lingeringHeaders: 0x080101
        case .unreportedClose: 0x080200
        case .lateNextAddress: 0x080400
        case .longHeaderLine: 0x080600
        case .frameFlood: 0x080700
        case .fragmentLocation: 0x080C00
        case .connectBody, .droppedExcess, .earlyStop, .idleErrors, .silentViolation, .unsolicitedInput: nil
        }
    }

    /// Whether the libcurl that was found at run time has the fault.
    var isActive: Bool { isActive(in: CurlLibrary.version) }

    func isActive(in version: UInt32) -> Bool { fixedIn.map { version < $0 } ?? true }
}
