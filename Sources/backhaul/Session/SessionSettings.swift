import Backhaul

/// The settings that options can change in a session.
struct SessionSettings {
    var identifier: String
    /// The session whose settings the options change, if the identifier is the name of a variant (`SessionVariant`).
    var base: String?
    /// The options for settings. Nil if these settings do not change.
    var options: SettingOptions?
    /// The headers for all requests of the session. Nil if the headers do not change.
    var headers: [Header]?
    /// Whether settings without a given option get their defaults. If not, they keep their stored values.
    var resetsAll = false

    var hasChanges: Bool { options?.isGiven == true || headers != nil || resetsAll }

    /// - Parameter stored: The stored configuration of the session, or of the variant's session.
    func configuration(over stored: SessionConfiguration?) -> SessionConfiguration {
        var configuration = (resetsAll ? nil : stored) ?? initial
        configuration.identifier = identifier
        options?.change(&configuration)
        if let headers { configuration.headers = headers }
        return configuration
    }

    /// The configuration of a new session. It asks for credentials, because a user can give one.
    private var initial: SessionConfiguration {
        var configuration = SessionConfiguration(identifier: identifier)
        configuration.asksForCredentials = true
        return configuration
    }
}
