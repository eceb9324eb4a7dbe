/// In messages of the library, replaces the names of fields of the C header by the names of the options that set them.
enum OptionNaming {
    private static let spoken = [
        ("accepted_statuses", "--accept-status"), ("retry.statuses", "--retry-status"),
        ("maximum_size", "--max-filesize"), ("expected_size", "--size"), ("maximum_redirects", "--max-redirs"),
        ("redirects is BH_REDIRECTS_NONE", "--redirects is none"), ("resource_timeout_ms", "--max-time"),
        ("request_timeout_ms", "--request-timeout"), ("retry.first_delay_ms", "--retry-delay"),
        ("retry.longest_delay_ms", "--retry-max-delay"), ("choose embedded hosting", "give --embedded"),
        ("earliest_start_ms", "--earliest-start"), ("latest_start_ms", "--latest-start"),
        ("interval_ms", "--every"), ("tolerance_ms", "--tolerance"), ("first_ms", "--first"),
        ("month_starts_on", "--month-starts-on"),
        ("if_exists BH_IF_EXISTS_REPLACE", "--if-exists replace"),
        ("the option `store`", "--store"), ("the option `daemon`", "--daemon"),
    ] + settings

    /// The fields and options of constraints (demands on the system) and of sessions (named collections of transfers).
    /// Names without an underscore are left out, because they may be ordinary words of a message. Of the session's
    /// options, only durations are included. The fields of the other options are left out, because the limits of the
    /// store have fields with the same names.
    private static let settings =
        ConstraintsRecord.settings.map { ($0.field, "--" + $0.option.name) }.filter { $0.0.contains("_") }
        + SessionOptions.settings.map { ($0.field, "--" + $0.option.name) }.filter { $0.0.hasSuffix("_ms") }

    static func spoken(_ message: String) -> String {
        spoken.reduce(message) { $0.replacing($1.0, with: $1.1) }
    }
}
