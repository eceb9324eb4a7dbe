internal import BackhaulModel

/// How a task ended, from its row and that of its answer.
extension Row {
    static let outcomeColumns = """
        status, error_domain, error_detail, error_message, tasks.size, path, http_status, answers.final_url, media_type,
        answers.headers, error_body, response_body, bytes_sent, task_kind, checksum,
        CASE WHEN state > 4 THEN (
            SELECT stored FROM body_parts
            WHERE body_parts.task_id = tasks.id AND stored IS NOT NULL ORDER BY position LIMIT 1) END
        """

    mutating func failure() -> Failure? {
        let status = Status(rawValue: number()) ?? .internal
        let domain = FailureDomain(rawValue: number()) ?? .none
        let detail = integer()
        let message = optionalText()
        guard status != .ok else { return nil }
        return Failure(status, message ?? Transaction.cancelledMessage, domain: domain, detail: detail)
    }

    /// Reads `outcomeColumns`.
    mutating func outcome(
        state: TaskState, destination: String?, keptFile: String, bodyFile: (String) -> String, attempts: UInt32,
        bytesReceived: UInt64
    ) throws(Failure) -> Outcome {
        var outcome = Outcome(state: state, failure: failure())
        outcome.size = bits()
        // The kept file's path is not stored: the store may have been moved since.
        let claimed = optionalText()
        let path = claimed ?? destination ?? keptFile
        outcome.answer.httpStatus = number()
        outcome.answer.finalURL = optionalText()
        outcome.answer.mediaType = optionalText()
        outcome.answer.headers = try HeaderBlob.unpack(optionalBlob())
        outcome.answer.errorBody = optionalBlob()
        outcome.answer.responseBody = optionalBlob()
        outcome.bytesSent = bits()
        let makesFile = TaskKind(rawValue: number()) != .upload
        outcome.checksum = optionalText().flatMap(Checksum.init)
        // What was consumed is the host's again when the task has not succeeded.
        let consumed = optionalText().map(bodyFile)
        outcome.path = state != .succeeded ? claimed ?? consumed : makesFile ? path : nil
        outcome.attempts = attempts
        outcome.bytesReceived = bytesReceived
        return outcome
    }
}
