internal import BackhaulModel

/// The command that reads the metrics of the engine.
struct MetricsCommands {
    let call: CommandCall

    func metrics() {
        MetricsReader(engine: call.engine).read { result in call.reply(result.map { .metrics($0) }) }
    }
}
