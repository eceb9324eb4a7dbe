internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// Processes the results of libcurl at the end of each iteration of the event loop, after the call-backs of that
/// iteration. Also makes the stacks (multi handles with their easy handles and sockets), and replaces a stack after an
/// error.
extension Transport {
    /// How long libcurl may be called repeatedly in one iteration of the loop, in milliseconds.
    private static let processingMilliseconds: Int64 = 20

    /// An operation that was requested during a call of libcurl. It is performed after that call.
    enum DeferredCall {
        case begin(Transfer)
        case discard(Transfer)
        case unpause(Transfer)
    }

    /// Schedules the processing of libcurl's results for the end of this iteration of the loop.
    func scheduleProcessing() {
        guard !isProcessingScheduled, !isProcessing, !isClosed else { return }
        isProcessingScheduled = true
        loop.afterThisIteration { [weak self] in self?.process() }
    }

    private func process() {
        isProcessingScheduled = false
        isProcessing = true
        let isDone = processUntilQuiet()
        isProcessing = false
        if !isDone { scheduleProcessing() }
    }

    private func processUntilQuiet() -> Bool {
        // The number of repetitions and the time are limited, so that other call-backs can run.
        let end = Clock.bootMilliseconds + Self.processingMilliseconds
        for _ in 0..<64 where Clock.bootMilliseconds <= end {
            guard !isClosed else { return true }
            var isQuiet = true
            for stack in Array(stacks.values) where !processUntilQuiet(stack) { isQuiet = false }
            if performDeferredCalls() { isQuiet = false }
            for stack in Array(stacks.values) where stack.multi.isDue {
                stack.multi.act()
                isQuiet = false
            }
            if isQuiet { return true }
        }
        return false
    }

    /// Handles an error of the stack (a multi handle with its easy handles and sockets), and handles the ended
    /// transfers of the stack. Returns false if there was an error or an ended transfer.
    private func processUntilQuiet(_ stack: CurlStack) -> Bool {
        if stack.multi.error != CURLM_OK {
            // All transfers of the stack fail, because libcurl's manual does not say in which state transfers are after
            // this error.
            let reason = String(cString: curl_multi_strerror(stack.multi.error))
            replaceStack(
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

    /// Performs the deferred calls. Returns false if there were none.
    @discardableResult
    private func performDeferredCalls() -> Bool {
        let tasks = deferredCalls
        deferredCalls = []
        for task in tasks { perform(task) }
        return !tasks.isEmpty
    }

    private func perform(_ task: DeferredCall) {
        switch task {
        case .begin(let transfer):
            begin(transfer)
        case .discard(let transfer):
            release(transfer)
        case .unpause(let transfer):
            guard let curl = transfer.curl, !transfer.isOver else { return }
            let result = curl.stack.multi.pause(
                curl.easy, receiving: transfer.exchange.isPaused, sending: transfer.outgoing.isPaused)
            if result != CURLE_OK, transfer.curl?.easy === curl.easy { conclude(transfer, result) }
        }
    }

    // MARK: - Stacks

    func stack(of identity: ConnectionIdentity) throws(Failure) -> CurlStack {
        if let stack = stacks[identity] { return stack }
        let stack = try CurlStack(loop, identity) { [weak self] in self?.scheduleProcessing() }
        stack.multi.limit(connections: maximumConnections)
        stacks[identity] = stack
        return stack
    }

    /// Removes the stack after an error, and fails its transfers. The next transfer makes a new stack.
    func replaceStack(_ stack: CurlStack, _ failure: Failure) {
        let begun = active.values.filter { $0.curl?.stack === stack }
        stacks[stack.identity] = nil
        stack.close(ending: begun.compactMap(\.curl?.easy))
        for transfer in begun { transfer.exitCurl() }
        for transfer in begun { end(transfer, .failed(failure, isTransient: true)) }
    }
}
