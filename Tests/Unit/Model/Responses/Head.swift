import BackhaulModel

/// Returns the head of a response from its header lines: `head(206, "ETag: \"a\"")`.
func head(
    _ status: Int32, _ lines: String..., url: String = "https://example.org/file", retryAfter: Int64? = nil
) -> ResponseHead {
    head(status, lines: lines, url: url, retryAfter: retryAfter)
}

func head(
    _ status: Int32, lines: [String], url: String = "https://example.org/file", retryAfter: Int64? = nil
) -> ResponseHead {
    let fields = lines.map { line in
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return ResponseField(String(parts[0]), String(parts[1].drop { $0 == " " }))
    }
    return ResponseHead(
        status: status, finalURL: url, isMultiplexed: false, fields: fields, retryAfterSeconds: retryAfter)
}

let monday = "Mon, 05 Oct 2026 08:00:00 GMT"
let tuesday = "Tue, 06 Oct 2026 08:00:00 GMT"
