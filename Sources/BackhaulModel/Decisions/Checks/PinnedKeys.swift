/// Checks of `bh_session_configuration.pinned_public_keys`.
enum PinnedKeys {
    /// Checks that each pin is "sha256//", followed by 44 characters of base64. The character ';' separates pins
    /// (CURLOPT_PINNEDPUBLICKEY).
    static func check(_ text: String) throws(Failure) {
        let pins = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        for pin in pins {
            let digits = pin.dropFirst("sha256//".utf8.count)
            guard pin.starts(with: "sha256//".utf8), digits.count == 44, digits.last == UInt8(ascii: "="),
                digits.dropLast().allSatisfy(isBase64)
            else {
                throw Failure(
                    .invalidArgument,
                    "pinned_public_keys is not a list of sha256//BASE64, divided by ';': the SHA-256 digest of the key "
                        + "as openssl pkey -pubin -outform der writes it")
            }
        }
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "+/".utf8.contains(byte)
    }
}
