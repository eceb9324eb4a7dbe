/// Makes a history shorter while its run still has a violation.
struct Shrinking {
    let journal: Journal
    let folder: String

    func shortest(of history: History) -> History {
        var history = history
        while let shorter = shorter(than: history) { history = shorter }
        return history
    }

    /// Leaves out a half of the tasks or faults, then a quarter, and so on. Returns nil if each part is needed.
    private func shorter(than history: History) -> History? {
        for parts in [2, 4, 8, 16, 64] {
            for list in [\History.faults.count, \History.tasks.count] {
                let count = history[keyPath: list]
                guard count > 0 else { continue }
                for part in 0..<min(parts, count) {
                    let range = (part * count / parts)..<max(part * count / parts + 1, (part + 1) * count / parts)
                    var candidate = history
                    if list == \History.faults.count {
                        candidate.faults.removeSubrange(range)
                    } else if count > range.count {
                        candidate.tasks.removeSubrange(range)
                    } else {
                        continue
                    }
                    if !Run(candidate, journal, folder: folder).perform().isEmpty { return candidate }
                }
            }
        }
        return nil
    }
}
