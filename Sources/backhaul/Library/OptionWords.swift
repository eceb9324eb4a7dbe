/// The library speaks of the members of its structs; here they are options.
enum OptionWords {
    private static let spoken = [
        ("accepted_statuses", "--accept-status"), ("retry_statuses", "--retry-status"),
        ("maximum_size", "--max-filesize"), ("expected_size", "--size"), ("maximum_redirects", "--max-redirs"),
        ("redirects is BH_REDIRECTS_NONE", "--redirects is none"), ("resource_timeout_ms", "--max-time"),
        ("request_timeout_ms", "--request-timeout"), ("first_retry_delay_ms", "--retry-delay"),
        ("longest_retry_delay_ms", "--retry-max-delay"), ("choose embedded hosting", "give --embedded"),
        ("the option `store`", "--store"), ("the option `daemon`", "--daemon"),
    ]

    static func spoken(_ message: String) -> String {
        spoken.reduce(message) { $0.replacing($1.0, with: $1.1) }
    }
}
