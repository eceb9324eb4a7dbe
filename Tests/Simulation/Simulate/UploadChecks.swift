import CBackhaul

/// What must hold for uploads that can be continued.
extension Checks {
    func violationsOfUpload(_ plan: TaskPlan, _ own: [Observation]) -> [String] {
        guard plan.upload != nil else { return [] }
        var found: [String] = []
        // A power cut may leave a mixture in a file that a program had just overwritten.
        if own.contains(where: { $0.kind == .upload && $0.first < 0 }), !mayBeTorn(plan) {
            found.append("a server has a mixture as the upload of task \(plan.number)")
        }
        if sendsLaterVersion(plan, own) {
            found.append("task \(plan.number) has sent a version of its file that is newer than its snapshot")
        }
        if let again = own.first(where: { $0.kind == .partIsSentAgain }) {
            found.append("task \(plan.number) has sent part \(again.second) again, although the server had it")
        }
        // A disk that fails may not have the record of the upload.
        if plan.upload?.kind == .s3, !history.hasDiskFaults, hasRemains(own) {
            found.append("task \(plan.number) has left parts of its upload at the server")
        }
        if beginsAgainWithChangedFile(plan, own) {
            found.append("task \(plan.number) has begun again several times, although its file has changed")
        }
        if hasLeftUpload(plan, own) {
            found.append("task \(plan.number) has begun again, although the server had its upload")
        }
        return found
    }

    /// Whether a server has a version of the file that did not exist when the snapshot was made.
    private func sendsLaterVersion(_ plan: TaskPlan, _ own: [Observation]) -> Bool {
        guard plan.upload?.source == .snapshot else { return false }
        let begins = own.prefix { $0.kind != .taskIsAccepted }.count { $0.kind == .bodyChangeBegins }
        return own.contains { $0.kind == .upload && $0.first > begins }
    }

    private func hasRemains(_ own: [Observation]) -> Bool {
        var remains: Set<Int64> = []
        for one in own {
            switch one.kind {
            case .uploadIsUsed: remains.insert(one.first)
            case .uploadIsLost, .uploadIsRemoved: remains.remove(one.first)
            case .upload: remains.remove(one.second)
            default: break
            }
        }
        return !remains.isEmpty
    }

    /// Whether several uploads were begun, and their URLs used, after the file was changed. The first of them finds the
    /// change.
    private func beginsAgainWithChangedFile(_ plan: TaskPlan, _ own: [Observation]) -> Bool {
        guard plan.upload?.source == .reference, let accepted = own.firstIndex(where: { $0.kind == .taskIsAccepted }),
            let change = own[accepted...].firstIndex(where: { $0.kind == .bodyIsChanged })
        else { return false }
        let made = Set(own[change...].filter { $0.kind == .uploadIsMade }.map(\.first))
        let used = Set(own[change...].filter { $0.kind == .uploadIsUsed }.map(\.first))
        return made.intersection(used).count > 1
    }

    /// Whether an upload was begun again, although its URL had been used, and the server had not said that it is lost.
    private func hasLeftUpload(_ plan: TaskPlan, _ own: [Observation]) -> Bool {
        var present: (id: Int64, isUsed: Bool)?
        for one in own {
            switch one.kind {
            case .uploadIsMade:
                if present?.isUsed == true { return true }
                present = (one.first, false)
            case .uploadIsUsed where one.first == present?.id: present?.isUsed = true
            case .uploadIsLost where one.first == present?.id: present = nil
            // The task fails, or sends the other file from its first byte on.
            case .bodyChangeBegins: return false
            default: break
            }
        }
        return false
    }

    private func mayBeTorn(_ plan: TaskPlan) -> Bool {
        guard plan.upload?.isOverwritten == true else { return false }
        let begins = observations.indices.filter {
            observations[$0].kind == .bodyChangeBegins && observations[$0].task == plan.number
        }
        return begins.contains { begin in
            let end = observations[begin...].first {
                $0.kind == .powerFails || $0.kind == .bodyIsChanged && $0.task == plan.number
            }
            return end?.kind == .powerFails
        }
    }

    func mayFailAsUpload(_ plan: TaskPlan, _ end: Observation) -> Bool {
        guard let upload = plan.upload else { return false }
        let own = observations.prefix { $0 != end }.filter { $0.task == plan.number }
        switch Int(end.second) {
        // docs/uploads.md: the upload is given up after three losses.
        case Int(BH_BAD_RESPONSE): return own.count { [.uploadIsLost, .uploadIsShortened].contains($0.kind) } >= 3
        case Int(BH_BODY_CHANGED): return upload.source == .reference && own.contains { $0.kind == .bodyChangeBegins }
        case Int(BH_REQUEST_TIMEOUT):
            return own.count { [.request, .uploadRequest].contains($0.kind) } >= 3
        default: return false
        }
    }
}
