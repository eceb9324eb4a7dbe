/// Needed by: libcurl before 8.12.0. Fixed in: 8.12.0 (commits c37b694e46 and 66e5351e0a).
///
/// If a Location field is only a fragment, the result is the base URL (RFC 3986, section 5.2.2), but libcurl returns
/// the directory of the base URL.
extension URLParser {
    static func isMisreadFragment(_ location: [UInt8]) -> Bool {
        Workaround.fragmentLocation.isActive && location.first == UInt8(ascii: "#")
    }
}
