/// Checks of an administrator's settings for a network.
public enum NetworkCheck {
    public static func check(_ settings: NetworkSettings) throws(Failure) {
        let size = settings.name.utf8.count
        guard (1...Limits.identifierSize).contains(size) else {
            throw invalid("the network's name has \(size) bytes; 1 to \(Limits.identifierSize) are allowed")
        }
        guard settings.name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw invalid("the network's name has a control character")
        }
        try FieldCheck.range(settings.monthStartsOn, 1...28, "month_starts_on")
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
