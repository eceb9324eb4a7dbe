internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// The work that is left at the end of an iteration of the loop, after its call-backs.
extension Transport {
    /// How long libcurl is called repeatedly in one iteration of the loop.
    private static let turnMilliseconds: Int64 = 20

    /// Operations that were requested while libcurl was being called.
    enum Postponed {
        case begin(Transfer)
        case discard(Transfer)
        case unpause(Transfer)
    }

    /// Schedules the work that libcurl and the call-backs left, for the end of this iteration of the loop.
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
        // Bounded, so that other call-backs can run.
        let end = Clock.bootMilliseconds + Self.turnMilliseconds
        for _ in 0..<64 where Clock.bootMilliseconds <= end {
            guard !loop.isBroken, !isClosed else { return true }
            var isQuiet = true
            for stack in Array(stacks.values) where !settled(stack) { isQuiet = false }
            if performPostponed() { isQuiet = false }
            for stack in Array(stacks.values) where stack.multi.isDue {
                stack.multi.act()
                isQuiet = false
            }
            if isQuiet { return true }
        }
        return false
    }

    /// Handles errors and ended transfers of the stack. Returns false if there were any.
    private func settled(_ stack: CurlStack) -> Bool {
        if stack.multi.error != CURLM_OK {
            // libcurl's manual does not say in which state its transfers are after this error.
            let reason = String(cString: curl_multi_strerror(stack.multi.error))
            startAnew(
                stack,
                Failure(
                    .connectionLost, "libcurl ended all its transfers: \(reason)", domain: .curl,
                    detail: Int64(stack.multi.error.rawValue)))
            return false
        }
        var isQuiet = true
        for (transfer, error) in stack.multi.takeUnwatched() where !transfer.isOver {
            isQuiet = false
            end(transfer, .failed(unwatched(transfer, error), isTransient: true))
        }
        while stacks[stack.identity] === stack, let (receiver, result) = stack.multi.nextEnded() {
            isQuiet = false
            // Unsafe: the transport retains every transfer while libcurl has it.
            conclude(Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue(), result)
        }
        return isQuiet
    }

    private func unwatched(_ transfer: Transfer, _ error: SystemError) -> Failure {
        .system(
            .outOfResources, code: error.code,
            "the connection to \(transfer.origin.text) cannot be watched: \(error.reason); \(error.advice)")
    }

    /// Returns false if nothing was postponed.
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
            guard let stack = transfer.stack, let easy = transfer.easy, !transfer.isOver else { return }
            let result = stack.multi.pause(easy, receiving: transfer.isPaused, sending: transfer.sending.isPaused)
            if result != CURLE_OK, transfer.easy === easy { conclude(transfer, result) }
        }
    }

    // MARK: - Stacks

    func stack(of identity: ConnectionIdentity) throws(Failure) -> CurlStack {
        if let stack = stacks[identity] { return stack }
        let stack = try CurlStack(loop, identity) { [weak self] in self?.stir() }
        stack.multi.limit(connections: maximumConnections)
        stacks[identity] = stack
        return stack
    }

    /// Fails the transfers that this stack runs. The next transfer creates a new stack.
    func startAnew(_ stack: CurlStack, _ failure: Failure) {
        let begun = active.values.filter { $0.stack === stack }
        stacks[stack.identity] = nil
        stack.giveUp(begun.compactMap(\.easy), onBrokenLoop: loop.isBroken)
        for transfer in begun { transfer.leaveCurl() }
        for transfer in begun { end(transfer, .failed(failure, isTransient: true)) }
    }
}
