internal import BackhaulBus
internal import BackhaulModel

/// The known state of logind, and the calls that are needed next. A value, like `NetworkManagerView`.
/// https://www.freedesktop.org/software/systemd/man/latest/org.freedesktop.login1.html
struct LogindView {
    private(set) var presence = BusPresence.asking
    /// Whether logind prepares for sleep. Nil while it is not known.
    private var isPreparing: Bool?
    /// Why that is not known, as the end of a sentence.
    private var complaint = "has not answered yet"
    /// Why logind does not delay sleep for us.
    private var refusal: String?
    private var isSettled = false

    mutating func tell(_ presence: BusPresence) -> [BusQuestion] {
        if presence == self.presence { return [] }
        self.presence = presence
        isPreparing = nil
        complaint = "has not answered yet"
        refusal = nil
        isSettled = false
        return presence.owner == nil ? [] : [.properties(.logind)]
    }

    mutating func tell(properties answer: BusAnswer) -> [BusQuestion] {
        isSettled = true
        guard case .properties(let properties) = answer else {
            isPreparing = nil
            complaint = answer.complaint ?? "answers something else than was asked"
            return []
        }
        guard case .bool(let isPreparing)? = properties["PreparingForSleep"] else {
            self.isPreparing = nil
            complaint = "does not say whether it prepares for sleep"
            return []
        }
        self.isPreparing = isPreparing
        // During the preparation logind grants no delay.
        return isPreparing ? [] : [.inhibit]
    }

    /// Handles the signal PrepareForSleep.
    mutating func prepare(_ isPreparing: Bool, isDelayed: Bool) -> [BusQuestion] {
        guard presence.owner != nil else { return [] }
        self.isPreparing = isPreparing
        isSettled = true
        return isPreparing || isDelayed ? [] : [.inhibit]
    }

    mutating func tell(inhibit answer: BusAnswer) {
        refusal = answer.complaint.map { "which does not let sleep be delayed: it \($0)" }
    }

    /// Whether the delay has to be released for a sleep.
    var isAboutToSleep: Bool { isPreparing == true }

    var reading: (Reading<Bool>, isSettled: Bool) {
        let title = BusName.logind.title
        switch presence {
        case .asking: return (Reading(source: "\(title) has not answered yet"), false)
        case .absent(let why): return (Reading(source: why), true)
        case .present:
            guard let isPreparing else { return (Reading(source: "\(title) \(complaint)"), isSettled) }
            return (Reading(isPreparing, source: title + (refusal.map { ", " + $0 } ?? "")), true)
        }
    }
}
