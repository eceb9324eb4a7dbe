public import BackhaulModel

/// Credentials that the host wants the next engine to have, too.
extension Transaction {
    /// Replaces an earlier one of the protection space.
    public func keep(_ answer: KeptAnswer, of session: SessionID) throws(Failure) {
        try tables.keptAnswers.write(answer, of: session)
    }

    /// It did not serve, or there is a newer one. Harmless when there is none.
    public func forgetKept(_ space: ProtectionSpace, of session: SessionID) throws(Failure) {
        try tables.keptAnswers.remove(space, of: session)
    }

    /// Those of all sessions.
    public func keptAnswers() throws(Failure) -> [(session: SessionID, answer: KeptAnswer)] {
        try tables.keptAnswers.all()
    }
}
