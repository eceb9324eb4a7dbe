internal import BackhaulLoop
internal import BackhaulModel
internal import CCurl

/// What a turn of the loop leaves to be done when its call-backs are through.
extension Transport {
    /// What was asked for while libcurl was being called.
    enum Postponed {
        case begin(Transfer)
        case discard(Transfer)
        case unpause(Transfer)
    }

    /// Has everything done that libcurl and the call-backs have left behind, when the call-backs of this turn are
    /// through.
    func stir() {
        guard !isStirred, !isSettling, !isClosed else { return }
        isStirred = true
        loop.afterThisTurn { [weak self] in self?.settle() }
    }

    private func settle() {
        isStirred = false
        isSettling = true
        let isDone = settled()
        isSettling = false
        if !isDone { stir() }
    }

    private func settled() -> Bool {
        // Bounded, so that other call-backs get their turn.
        for _ in 0..<64 {
            guard !loop.isBroken else { return true }
            guard let multi = stack?.multi else {
                // Whatever begins now makes a stack.
                guard performPostponed(), stack != nil else { return true }
                continue
            }
            if multi.error != CURLM_OK {
                // Its man page leaves the state of all its transfers open.
                let reason = String(cString: curl_multi_strerror(multi.error))
                startAnew(
                    Failure(
                        .connectionLost, "libcurl gave all its transfers up: \(reason)", domain: .curl,
                        detail: Int64(multi.error.rawValue)))
                continue
            }
            var isQuiet = true
            while let (receiver, result) = multi.nextEnded() {
                isQuiet = false
                // Unsafe: the transport holds every transfer for as long as curl knows it.
                conclude(Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue(), result)
                guard stack?.multi === multi else { return isClosed }
            }
            if performPostponed() { isQuiet = false }
            guard stack?.multi === multi else { return isClosed }
            if multi.isDue { multi.act() } else if isQuiet { return true }
        }
        return false
    }

    /// False when there was nothing.
    @discardableResult
    private func performPostponed() -> Bool {
        let tasks = postponed
        postponed = []
        for task in tasks { perform(task) }
        return !tasks.isEmpty
    }

    private func perform(_ task: Postponed) {
        switch task {
        case .begin(let transfer):
            begin(transfer)
        case .discard(let transfer):
            release(transfer)
        case .unpause(let transfer):
            guard let stack, let easy = transfer.easy, !transfer.isOver else { return }
            let result = stack.multi.pause(easy, receiving: transfer.isPaused, sending: transfer.sending.isPaused)
            if result != CURLE_OK, transfer.easy === easy { conclude(transfer, result) }
        }
    }

    // MARK: - libcurl as a whole

    func makeStack() throws(Failure) -> CurlStack {
        try CurlStack(loop) { [weak self] in self?.stir() }
    }

    /// Ends the transfers that libcurl has in hand as broken off. The next one begins another stack.
    func startAnew(_ failure: Failure) {
        let begun = active.values.filter { $0.easy != nil }
        stack?.giveUp(begun.compactMap(\.easy), onBrokenLoop: loop.isBroken)
        stack = nil
        for transfer in begun { transfer.easy = nil }
        for transfer in begun { end(transfer, .failed(failure, isTransient: true)) }
    }
}
