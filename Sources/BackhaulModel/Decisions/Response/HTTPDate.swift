/// A date for comparisons. Only the form that senders must use is read. The two obsolete forms are not read, because
/// servers do not send them. A date that cannot be read is ignored.
struct HTTPDate: Comparable {
    private let seconds: Int64

    init?(_ text: String) {
        guard let seconds = IMFFixdate.seconds(text.utf8.span) else { return nil }
        self.seconds = seconds
    }

    static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.seconds < right.seconds }
}
