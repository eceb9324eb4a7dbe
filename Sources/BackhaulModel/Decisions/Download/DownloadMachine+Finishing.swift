/// From the last byte to the file under its final name.
extension DownloadMachine {
    mutating func seal() -> [Action] {
        let turn = endTransfer()
        phase = .sealing
        buffered = 0
        size = offset
        return turn + [.seal(size: offset)]
    }

    mutating func sealed(_ intent: FinishIntent) -> [Action] {
        guard phase == .sealing else { return [] }
        if isCancelled { return discard(.left) }
        phase = .recordingIntent(intent)
        return [.recordIntent(intent)]
    }

    mutating func intentRecorded() -> [Action] {
        guard case .recordingIntent(let intent) = phase else { return [] }
        if isCancelled { return discard(.left) }
        phase = .placing
        return [.place(intent)]
    }

    mutating func intentRefused() -> [Action] {
        guard case .recordingIntent = phase else { return [] }
        return discard(.left)
    }

    mutating func placed() -> [Action] {
        guard phase == .placing else { return [] }
        partIsGone = true
        return conclude(.succeeded)
    }
}
