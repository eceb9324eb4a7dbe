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
            guard let multi else {
                performPostponed()
                return true
            }
            if multi.error != CURLM_OK {
                rebuild(multi.error)
                continue
            }
            var isQuiet = true
            while let (receiver, result) = multi.nextEnded() {
                isQuiet = false
                conclude(Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue(), result)
                guard self.multi === multi else { return isClosed }
            }
            if performPostponed() { isQuiet = false }
            guard self.multi === multi else { return isClosed }
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
            guard let multi, let easy = transfer.easy, !transfer.isPaused, !transfer.isOver else { return }
            let result = multi.unpause(easy)
            if result != CURLE_OK, transfer.easy === easy { conclude(transfer, result) }
        }
    }

    // MARK: - The multi handle

    func makeMulti() throws(Failure) -> MultiHandle {
        try MultiHandle(loop) { [weak self] in self?.stir() }
    }

    /// After an error of libcurl's its multi handle is done for, and so are the transfers in it.
    private func rebuild(_ error: CURLMcode) {
        let transfers = Array(active.values)
        let begun = transfers.filter { $0.easy != nil }
        tearDown(begun)
        multi = try? makeMulti()
        let reason = String(cString: curl_multi_strerror(error))
        for transfer in begun {
            let failure = Failure(
                .connectionLost, "libcurl gave all its transfers up: \(reason)", domain: .curl,
                detail: Int64(error.rawValue))
            end(transfer, .failed(failure, isTransient: true))
        }
    }

    func tearDown(_ transfers: [Transfer]) {
        let broken = loop.isBroken
        for transfer in transfers {
            guard let easy = transfer.easy else { continue }
            transfer.easy = nil
            if broken { Transport.abandon(easy) } else { multi?.remove(easy) }
        }
        if broken {
            multi?.forget()
            if let multi { Transport.abandon(multi) }
            Transport.abandon(handles)
        } else {
            multi?.close()
        }
        multi = nil
    }

    /// Keeps the object for ever, for the reason that `MultiHandle.forget` gives.
    static func abandon(_ object: AnyObject) {
        // Unsafe: this only adds a reference that nobody takes back.
        _ = Unmanaged.passRetained(object)
    }

    func dropConnections() {
        guard let fresh = try? makeMulti() else { return }
        multi?.close()
        multi = fresh
        handles.drop()
    }
}
