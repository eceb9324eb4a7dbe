internal import BackhaulModel

/// The value of a header field in the database. The first byte is the length of a short text, or one of these codes:
///
/// | first byte | value |
/// |---|---|
/// | 0–127 | a text with this number of bytes |
/// | 128 | a longer text: a varint with its number of bytes, then the bytes |
/// | 129 | a date: the seconds since 1970 (`HeaderDate`) |
/// | 130 | a decimal number without leading zeros, as a varint |
/// | 131–143 | not used |
/// | 144–255 | a usual value |
enum HeaderValue {
    private static let longestShortText = 127
    private static let longText: UInt8 = 128
    private static let date: UInt8 = 129
    private static let number: UInt8 = 130
    private static let firstUsual: UInt8 = 144

    /// The place of a value in this list is stored in databases. So values are only appended, up to 112 values.
    static let usual = [
        "bytes", "none", "keep-alive", "close", "gzip", "br", "zstd", "deflate", "identity", "chunked",
        "text/html", "text/html; charset=utf-8", "text/html; charset=UTF-8", "text/html;charset=utf-8", "text/plain",
        "text/plain; charset=utf-8", "text/plain; charset=UTF-8", "text/plain;charset=UTF-8", "text/css", "text/xml",
        "text/csv", "text/markdown", "text/javascript", "application/octet-stream", "application/json",
        "application/json; charset=utf-8", "application/xml", "application/javascript", "application/pdf",
        "application/zip", "application/gzip", "application/x-gzip", "application/x-tar", "application/x-xz",
        "application/x-bzip2", "application/zstd", "application/x-7z-compressed", "application/x-rpm",
        "application/x-debian-package", "application/vnd.debian.binary-package", "application/x-iso9660-image",
        "application/wasm", "binary/octet-stream", "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif",
        "image/svg+xml", "image/x-icon", "audio/mpeg", "audio/mp4", "audio/ogg", "audio/flac", "video/mp4",
        "video/webm", "video/mp2t", "application/vnd.apple.mpegurl", "font/woff2", "attachment", "inline",
        "Accept-Encoding", "accept-encoding", "Origin", "no-cache", "no-store", "no-transform", "private", "public",
        "max-age=0", "max-age=3600", "max-age=86400", "max-age=31536000", "public, max-age=31536000",
        "public, max-age=31536000, immutable", "max-age=31536000; includeSubDomains", "nosniff", "DENY", "SAMEORIGIN",
        "1; mode=block", "HIT", "MISS", "*", "*/*", "true", "false", "nginx", "Apache", "cloudflare", "AmazonS3",
        "Accept-Encoding, Origin", "timeout=5", "en", "en-US",
    ]

    private static let table = WordTable(usual)

    /// Appends a value to a blob.
    static func append(_ text: Span<UInt8>, to blob: inout [UInt8]) {
        if let index = table.index(of: text) {
            blob.append(firstUsual + UInt8(index))
        } else if let seconds = HeaderDate.seconds(text) {
            blob.append(date)
            blob.append(number: seconds)
        } else if let digits = decimal(text) {
            blob.append(number)
            blob.append(varint: digits)
        } else {
            if text.count <= longestShortText {
                blob.append(UInt8(text.count))
            } else {
                blob.append(longText)
                blob.append(varint: UInt64(text.count))
            }
            blob.append(copying: text)
        }
    }

    /// Reads a value; nil if the bytes are damaged.
    static func read(from reader: inout BlobReader) -> String? {
        guard let first = reader.readByte() else { return nil }
        switch first {
        case ...UInt8(longestShortText): return reader.readText(count: UInt64(first))
        case longText: return reader.readVarint().flatMap { reader.readText(count: $0) }
        case date: return reader.readNumber().flatMap(HeaderDate.text)
        case number: return reader.readVarint().map { String($0) }
        default:
            let index = Int(first) - Int(firstUsual)
            return usual.indices.contains(index) ? usual[index] : nil
        }
    }

    /// Reads a decimal number; nil if the text of this number would not have the same bytes.
    private static func decimal(_ text: Span<UInt8>) -> UInt64? {
        // The largest number has 20 digits.
        guard (1...20).contains(text.count), text[0] != UInt8(ascii: "0") || text.count == 1 else { return nil }
        var number: UInt64 = 0
        for index in text.indices {
            guard text[index].isDigit else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.addingReportingOverflow(UInt64(text[index] - UInt8(ascii: "0")))
            guard !isTooLarge, !overflows else { return nil }
            number = sum
        }
        return number
    }
}
