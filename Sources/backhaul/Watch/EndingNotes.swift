/// Reports to the user what the result of a command does not show: failed and cancelled transfers, downloads that
/// received no new file, and responses to uploads.
struct EndingNotes {
    /// The number of cancelled transfers that are reported one by one. A user may have cancelled many thousands.
    private static let shownCancellations = 10
    /// The number of lines of a response that are shown.
    private static let shownLines = 20

    private var cancelled = 0

    mutating func report(_ ending: Ending, _ output: Output) {
        if ending.isCancelled { cancelled += 1 }
        // With --json, the line of the transfer has all of this.
        guard !output.isJSON else { return }
        guard ending.succeeded else {
            if !ending.isCancelled || cancelled <= EndingNotes.shownCancellations {
                output.error("transfer \(ending.taskID): \(ending.failureSentence)")
            }
            return
        }
        if let source = ending.source { output.note(source.sentence(ending.path ?? ending.url)) }
        if let body = ending.responseBody { noteResponse(body, ending, output) }
    }

    /// Reports how many cancelled transfers were not reported one by one.
    mutating func reportRest(_ output: Output) {
        let rest = cancelled - EndingNotes.shownCancellations
        if rest > 0 && !output.isJSON { output.error("\(Text.count(rest, "more transfer")) cancelled (BH_CANCELLED)") }
        cancelled = 0
    }

    /// Shows the text of the response to an upload. Long responses, HTML and binary data are not shown.
    private func noteResponse(_ body: [UInt8], _ ending: Ending, _ output: Output) {
        guard ErrorBody.line(body) != nil, let text = ErrorBody.text(body) else { return }
        let lines = text.split(maxSplits: EndingNotes.shownLines, whereSeparator: \.isNewline)
        output.note("\(ending.url) responded with status \(ending.httpStatus ?? 0):")
        for line in lines.prefix(EndingNotes.shownLines) {
            output.note("  " + line.prefix(ErrorBody.longestLine))
        }
        if lines.count > EndingNotes.shownLines { output.note("  ...") }
    }
}
