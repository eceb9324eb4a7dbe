internal import BackhaulModel
internal import CBackhaul

extension bh_session_info {
    init(_ session: SessionInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_session_info>.size
        identifier = arena.place(session.identifier)
        round = session.round
        live_tasks = session.liveTasks
        events = session.events
        if session.events > 0 { attention |= UInt32(BH_ATTENTION_EVENTS) }
        if session.hasActivity { attention |= UInt32(BH_ATTENTION_ACTIVITY) }
        if session.hasFinishedRound { attention |= UInt32(BH_ATTENTION_FINISHED) }
        is_invalidated = session.isInvalidating
        consumer = session.consumer
        created_ms = session.createdMilliseconds
        open_challenges = session.openChallenges
        if session.openChallenges > 0 { attention |= UInt32(BH_ATTENTION_CHALLENGE) }
        if session.waitingConsumers > 0 { attention |= UInt32(BH_ATTENTION_YIELD) }
        consumer_stopped_ms = session.consumerStoppedMilliseconds
        waiting_consumers = session.waitingConsumers
        launch_state = session.launchState.rawValue
        next_launch_ms = session.nextLaunchMilliseconds
    }
}

extension bh_session_configuration {
    init(_ configuration: SessionConfiguration, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_session_configuration>.size
        identifier = arena.place(configuration.identifier)
        var configuration = configuration
        FieldExchange.write(into: &arena) { (exchange) throws(Failure) in
            try exchange.fields(&self, &configuration)
        }
    }
}
