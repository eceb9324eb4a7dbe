internal import BackhaulModel
internal import BackhaulStore

/// The origins whose servers have asked for a pause. `OriginDelays` decides; this class has the clock and the timer.
///
/// Each engine has one object of this type.
final class OriginController {
    private let runtime: any Runtime
    private var delays = OriginDelays()
    private var timer: (any RuntimeTimer)?
    /// The lanes with open wait records.
    private var recorded: Set<LaneID> = []
    /// Whether the widths may have changed since the last call of `takeChange`.
    private var hasChanged = false

    init(_ runtime: any Runtime) { self.runtime = runtime }

    func close() { timer?.stop() }

    var isEmpty: Bool { delays.isEmpty }

    func widths(running: [(origin: Origin, start: Int64)] = []) -> [Origin: Int] {
        delays.isEmpty ? [:] : delays.widths(running: running, now: runtime.now)
    }

    /// Notes that a pause, a width or the running tasks of an origin have changed.
    func noteChange() { hasChanged = true }

    /// Whether the widths must be computed again. The caller does this.
    func takeChange() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    /// The milliseconds until the end of the origin's pause; nil if there is no pause now.
    func millisecondsUntilEnd(of origin: Origin) -> Int64? {
        delays.end(of: origin, now: runtime.now).map { $0 - runtime.now }
    }

    /// Notes a response.
    func responded(_ response: OriginResponse, from origin: () -> Origin) -> [EngineEffect] {
        switch response {
        case .refusal, .other: if delays.isEmpty { return [] }
        case .pause: break
        }
        return delays.responded(response, from: origin(), now: runtime.now) ? [.originsChanged] : []
    }

    /// Begins and ends wait records. `paused`: the lanes with ready tasks whose origins are paused now.
    func recordWaits(of paused: [Lane]) -> [EngineEffect] {
        let ended = recorded.subtracting(paused.map(\.id)).sorted()
        recorded.subtract(ended)
        let begun = paused.filter { recorded.insert($0.id).inserted }
        return ended.map { .waitEnded(.origin($0), at: runtime.clocks.wallMilliseconds) }
            + begun.map {
                let scope = WaitScope($0.session, lane: $0.id)
                return .waitBegan(.origin($0.id), [scope], Hold(.origin, Self.sentence($0.origin)))
            }
    }

    static func sentence(_ origin: Origin) -> String {
        "\(origin.text) has asked for a pause, and all transfers for it wait"
    }

    func delayOfRedirect(to origin: Origin) -> Int64? {
        delays.isEmpty ? nil : delays.delayOfRedirect(to: origin, now: runtime.now)
    }

    /// Starts the timer for the next change of a limit.
    func startTimer() {
        guard let change = delays.update(now: runtime.now) else {
            timer?.stop()
            return
        }
        let timer = timer ?? runtime.timer { [.originsChanged] }
        self.timer = timer
        timer.start(milliseconds: max(0, change - runtime.now))
    }
}
