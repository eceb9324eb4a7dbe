internal import BackhaulBus
internal import BackhaulModel

/// What is known of logind, and what has to be asked next. A value, as `NetworkManagerView`.
/// https://www.freedesktop.org/software/systemd/man/latest/org.freedesktop.login1.html
struct LogindView {
    private(set) var presence = BusPresence.asking
    /// Nil while it is not known.
    private var isPreparing: Bool?
    /// The end of a sentence: why that is so.
    private var complaint = "has not answered yet"
    /// Why sleep is not delayed for us.
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
        // During the preparation it gives none.
        return isPreparing ? [] : [.inhibit]
    }

    /// The signal PrepareForSleep.
    mutating func prepare(_ isPreparing: Bool, isDelayed: Bool) -> [BusQuestion] {
        guard presence.owner != nil else { return [] }
        self.isPreparing = isPreparing
        isSettled = true
        return isPreparing || isDelayed ? [] : [.inhibit]
    }

    mutating func tell(inhibit answer: BusAnswer) {
        refusal = answer.complaint.map { "which does not let sleep be delayed: it \($0)" }
    }

    /// As the delay has to follow it.
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
