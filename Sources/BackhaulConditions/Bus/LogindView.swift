internal import BackhaulBus
internal import BackhaulModel

/// What is known about logind, the login service of systemd. logind reports when the system prepares for sleep. On
/// request, logind grants a delay: it then waits for a short time before the system sleeps. Like `NetworkManagerView`,
/// this type performs no I/O: its methods take replies and signals, and return the calls to send next.
/// https://www.freedesktop.org/software/systemd/man/latest/org.freedesktop.login1.html
struct LogindView {
    private(set) var presence = BusPresence.pending
    /// Whether logind prepares for sleep; nil if unknown.
    private var isPreparing: Bool?
    /// Why `isPreparing` is unknown, as the end of a sentence that begins with logind's name.
    private var failureText = "has not replied yet"
    /// Why logind grants no delay of sleep, as a clause after logind's name; nil if logind has not refused a delay.
    private var inhibitorFailure: String?
    private var isSettled = false

    mutating func update(_ presence: BusPresence) -> [BusRequest] {
        if presence == self.presence { return [] }
        self.presence = presence
        isPreparing = nil
        failureText = "has not replied yet"
        inhibitorFailure = nil
        isSettled = false
        return presence.owner == nil ? [] : [.properties(.logind)]
    }

    mutating func update(properties reply: BusReply) -> [BusRequest] {
        isSettled = true
        guard case .properties(let properties) = reply else {
            isPreparing = nil
            failureText = reply.failureText ?? "replies with something else than was requested"
            return []
        }
        guard case .bool(let isPreparing)? = properties["PreparingForSleep"] else {
            self.isPreparing = nil
            failureText = "does not say whether it prepares for sleep"
            return []
        }
        self.isPreparing = isPreparing
        // While logind prepares for sleep, it grants no new delay.
        return isPreparing ? [] : [.inhibit]
    }

    /// Handles the signal PrepareForSleep.
    mutating func prepare(_ isPreparing: Bool, isDelayed: Bool) -> [BusRequest] {
        guard presence.owner != nil else { return [] }
        self.isPreparing = isPreparing
        isSettled = true
        return isPreparing || isDelayed ? [] : [.inhibit]
    }

    mutating func update(inhibit reply: BusReply) {
        inhibitorFailure = reply.failureText.map { "which does not delay sleep: it \($0)" }
    }

    /// Whether logind is known to prepare for sleep. If so, the process that has requested the delay must end the delay
    /// soon.
    var isPreparingForSleep: Bool { isPreparing == true }

    var reading: (Reading<Bool>, isSettled: Bool) {
        let title = BusName.logind.title
        switch presence {
        case .pending: return (Reading(source: "\(title) has not replied yet"), false)
        case .absent(let why): return (Reading(source: why), true)
        case .present:
            guard let isPreparing else { return (Reading(source: "\(title) \(failureText)"), isSettled) }
            return (Reading(isPreparing, source: title + (inhibitorFailure.map { ", " + $0 } ?? "")), true)
        }
    }
}
