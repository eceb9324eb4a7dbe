import CBackhaul
import CSimulation
import Glibc

/// The files that are left when all tasks have ended, all events are acknowledged, and an engine has run.
struct Leftovers {
    private let history: History
    private let folder: String

    init(_ history: History, _ folder: String) { (self.history, self.folder) = (history, folder) }

    func record(in journal: Journal) {
        for name in names {
            var observation = Observation(time: world.servers.now, kind: .fileIsLeft)
            observation.text = name
            journal.add(observation)
        }
    }

    private var names: [String] {
        Self.names("\(folder)/files").filter { !belongsToProgram($0) } + Self.names("\(folder)/store/kept")
            + Self.names("\(folder)/store/bodies")
    }

    /// Whether a program or a task that has succeeded has made this file. A program that is killed leaves "N.new". It
    /// claims "N.claimed" (`Checks.violationsOfConsumedFile`).
    private func belongsToProgram(_ name: String) -> Bool {
        let suffix = [".new", ".claimed"].first(where: name.hasSuffix) ?? ""
        return Int(name.dropLast(suffix.count)).flatMap(history.plan) != nil || isReturned(name)
    }

    /// Whether it is the name of a consumed file whose old path belongs to another file.
    private func isReturned(_ name: String) -> Bool {
        history.tasks.contains { $0.pathTaken != nil && name.hasPrefix("\($0.number).~") }
    }

    static func names(_ folder: String) -> [String] {
        var names: [String] = []
        withUnsafeMutablePointer(to: &names) { names in
            sim_list(
                folder, { $1?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: $0!)) }, names)
        }
        return names
    }
}

extension History {
    /// In some histories, programs receive their events again, or are started once more when all tasks have ended.
    mutating func addInspection(_ generator: Random) {
        var random = generator
        (receivesAgain, isInspected) = (random.chance(50), random.chance(50))
    }
}

/// What a program does to find what was lost, or is left.
extension Program {
    /// When all tasks of all programs have ended, and the power has failed once more: receives and acknowledges the
    /// events that are left, and gives the engine time to remove the files that are left.
    mutating func inspect() -> Never {
        open()
        receiveAgain()
        acknowledgeAgain()
        let end = now + hour
        while !unacknowledged.isEmpty, now < end { poll(after: 0) }
        usleep(UInt32(600 * second))
        close()
        record(.inspectionEnds)
        world.programs.exit(number, for: nil)
    }

    /// Acknowledges each event whose acknowledgement has failed. Perhaps the store has this acknowledgement.
    private mutating func acknowledgeAgain() {
        let own = journal.all.filter { $0.program == number }
        let confirmed = own.filter { $0.kind == .isAcknowledged }.map(\.first)
        let begun = Set(own.filter { $0.kind == .acknowledges }.map(\.first))
        for id in begun.subtracting(confirmed).sorted() {
            var id = UInt64(id)
            check(library.session_acknowledge(session, &id, 1, BH_WAIT_DEFAULT, nil, &error))
        }
    }

    /// Polls from the first event on: each event comes again until it is acknowledged. If the process is launched, and
    /// not for a challenge, the round of its session has ended.
    mutating func receiveAgain() {
        var events: OpaquePointer?
        let start = now
        let status = library.session_poll(session, 0, 1_000, 0, &events, &error)
        defer { library.batch_release(events) }
        if status == BH_ENGINE_UNRESPONSIVE, isEngineStopped(since: start) { return }
        guard status == BH_OK else { return check(status) }
        let found = library.items(events, BH_ITEM_EVENT, bh_event.self)
        for id in unacknowledged.subtracting(found.map { Int64($0.id) }).sorted() {
            // A task may have been accepted by a process that was killed before it knew this.
            if id == finish, accepted.count < tasks.count { continue }
            record(.eventIsLost, first: id)
        }
        let hasFinish = found.contains { $0.kind == BH_EVENT_SESSION_FINISHED }
        if isLaunched, !isLaunchedForChallenge, !isFinished, !hasFinish {
            record(.launchIsWrong, first: WrongLaunch.roundIsOpen.rawValue)
        }
    }
}

extension Observation {
    /// The first 16 bytes of a name, in the two numbers.
    var text: String {
        get {
            withUnsafeBytes(of: (first, second)) { String(decoding: $0.prefix { $0 > 0 }, as: UTF8.self) }
        }
        set {
            var numbers: (Int64, Int64) = (0, 0)
            withUnsafeMutableBytes(of: &numbers) { $0.copyBytes(from: newValue.utf8.prefix($0.count)) }
            (first, second) = numbers
        }
    }
}
