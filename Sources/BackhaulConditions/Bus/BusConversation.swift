internal import BackhaulBus
internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The conversation with the system bus, on the thread of `BusWatch`: asks what the views want to know, tells them what
/// comes, and waits. Nothing is asked again unless something has changed.
final class BusConversation {
    private struct Asked {
        var question: BusQuestion
        /// Until when silence is not worth a word; nil when it has been told. An answer is taken whenever it comes.
        var patience: Deadline?
    }

    private let address: String?
    private let shared: BusWatch.Shared
    private var wants: ConditionNeeds = []
    private var network: NetworkManagerView?
    private var sleep: LogindView?

    private var connection: BusConnection?
    private var asked: [UInt64: Asked] = [:]
    /// Not asked yet, in this order.
    private var questions: [BusQuestion] = []
    /// Since the bus has last answered, or something has changed where it listens.
    private var failures = 0
    /// While there is no connection.
    private var place: BusPlace?
    private var nextTry = Deadline.after(milliseconds: 0)

    init(address: String?, shared: BusWatch.Shared) {
        self.address = address
        self.shared = shared
    }

    func run() {
        while shared.isOpen {
            adapt()
            var isIdle = true
            do throws(BusConnection.CallError) {
                if connection == nil, isDue { try connect() }
                if connection != nil {
                    try ask()
                    isIdle = try hear()
                    noticeSilence()
                    // What was heard raises questions.
                    if isIdle { try ask() }
                }
            } catch {
                disconnected(error)
            }
            publish()
            if isIdle { wait() }
        }
    }

    // MARK: What is wanted

    private func adapt() {
        let now = shared.takeWants()
        let (added, gone) = (now.subtracting(wants), wants.subtracting(now))
        wants = now
        for name in BusName.allCases where gone.contains(name.need) { giveUp(name) }
        if added.contains(.network) { network = NetworkManagerView() }
        if added.contains(.sleep) { sleep = LogindView() }
        guard connection != nil else { return }
        for name in BusName.allCases where added.contains(name.need) { want(name.first) }
    }

    private func giveUp(_ name: BusName) {
        let isOfName: (BusQuestion) -> Bool = { $0.service == name || name.first.contains($0) }
        asked = asked.filter { $0.value.question.service != name }
        questions.removeAll(where: isOfName)
        if connection != nil { want(name.rules.map { .noRule($0) }) }
        switch name {
        case .networkManager: network = nil
        case .logind:
            sleep = nil
            shared.delay.end()
        }
    }

    // MARK: The connection

    private var isDue: Bool { nextTry.hasPassed && (place == nil || failures <= BusWatch.pauses.count) }

    private func connect() throws(BusConnection.CallError) {
        guard let address, let made = BusConnection(address: address) else { throw .broken(ECONNREFUSED) }
        connection = made
        place = nil
        for name in names { questions += name.first }
    }

    private var names: [BusName] {
        BusName.allCases.filter { wants.contains($0.need) }
    }

    private func disconnected(_ error: BusConnection.CallError) {
        let why: String
        switch error {
        case .refused(_, let sentence): why = "the system bus tells no changes: \(sentence.prefix(200))"
        default:
            let place = address ?? "the address that is configured, which is none of a socket of this machine"
            why = connection == nil ? "there is no system bus at \(place)" : "the system bus at \(place) has hung up"
        }
        connection = nil
        asked = [:]
        questions = []
        for name in names { tell(.absent(why: why), of: name) }
        // What an absent service wants to know cannot be asked.
        questions = []
        if place == nil { place = address.flatMap { BusAddress.path(of: $0) }.flatMap { BusPlace(path: $0) } }
        nextTry = Deadline.after(milliseconds: BusWatch.pauses[min(failures, BusWatch.pauses.count - 1)] * 1_000)
        failures += 1
    }

    // MARK: Questions

    private func want(_ more: [BusQuestion]) {
        for question in more where !questions.contains(question) { questions.append(question) }
    }

    /// One that is under way is asked again after its answer, which may be older than the change.
    private func ask() throws(BusConnection.CallError) {
        guard let connection else { return }
        let underWay = Set(asked.values.map(\.question))
        let now = questions.filter { !underWay.contains($0) }
        questions.removeAll { !underWay.contains($0) }
        for question in now {
            let cookie = try connection.send(question.method, question.arguments)
            asked[cookie] = Asked(
                question: question, patience: .after(milliseconds: BusWatch.patienceMilliseconds))
        }
    }

    private func noticeSilence() {
        for (cookie, one) in asked where one.patience?.hasPassed == true {
            asked[cookie]?.patience = nil
            tell(.silence, to: one.question)
        }
    }

    // MARK: What comes

    /// Takes what has come, some at a time, so that a flood keeps nobody waiting. True when that was all.
    private func hear() throws(BusConnection.CallError) -> Bool {
        guard let connection else { return true }
        for _ in 0..<100 {
            switch try connection.step() {
            case .message(let message): try hear(message)
            case .progress: continue
            case .idle: return true
            }
        }
        return false
    }

    private func hear(_ message: BusMessage) throws(BusConnection.CallError) {
        if let cookie = message.replyCookie {
            guard let question = asked.removeValue(forKey: cookie)?.question else { return }
            let answer = question.answer(from: message)
            if case .rule = question, case .refused(let name, let sentence) = answer {
                throw .refused(name: name, sentence: sentence)
            }
            tell(answer, to: question)
        } else if message.sender == "org.freedesktop.DBus" {
            if message.isSignal("NameOwnerChanged", of: "org.freedesktop.DBus") { hearOwner(message) }
        } else if let sender = message.sender {
            // Anybody may send a signal to us alone: it counts when it comes from whoever has the name.
            if sender == network?.presence.owner {
                want(changedPath(message).map { network?.changed(at: $0) ?? [] } ?? [])
            } else if sender == sleep?.presence.owner, message.isSignal("PrepareForSleep", of: BusName.logind.manager) {
                guard let isPreparing = try? message.readBool() else { return }
                shared.delay.prepare(isPreparing)
                want(sleep?.prepare(isPreparing, isDelayed: shared.delay.isHeld) ?? [])
            }
        }
    }

    /// Of the object whose properties have changed, or are there at last.
    private func changedPath(_ message: BusMessage) -> String? {
        if message.isSignal("PropertiesChanged", of: "org.freedesktop.DBus.Properties") { return message.path }
        if message.isSignal("InterfacesAdded", of: "org.freedesktop.DBus.ObjectManager") {
            return try? message.readString("o")
        }
        return nil
    }

    /// sss: the name, its old owner and its new one, empty for none.
    private func hearOwner(_ message: BusMessage) {
        guard let name = try? message.readString(), let name = BusName.allCases.first(where: { $0.text == name }),
            (try? message.readString()) != nil, let owner = try? message.readString()
        else { return }
        tell(owner.isEmpty ? .absent(of: name) : .present(owner: owner), of: name)
    }

    private func tell(_ answer: BusAnswer, to question: BusQuestion) {
        switch question {
        case .rule, .noRule: break
        case .owner(let name):
            let presence = BusPresence(answer, of: name)
            if case .silence = answer {} else { failures = 0 }
            tell(presence, of: name)
        case .properties(.networkManager): want(network?.tell(manager: answer) ?? [])
        case .properties(.logind):
            want(sleep?.tell(properties: answer) ?? [])
            shared.delay.prepare(sleep?.isAboutToSleep ?? false)
        case .connection(let path): network?.tell(connection: path, answer)
        case .inhibit:
            if case .descriptor(let descriptor) = answer { shared.delay.hold(descriptor) }
            sleep?.tell(inhibit: answer)
        }
    }

    /// A service that came, went, or was replaced. Nothing that the former one was asked is answered any more.
    private func tell(_ presence: BusPresence, of name: BusName) {
        guard presence != (name == .logind ? sleep?.presence : network?.presence) else { return }
        asked = asked.filter { $0.value.question.service != name }
        questions.removeAll { $0.service == name }
        switch name {
        case .networkManager: want(network?.tell(presence) ?? [])
        case .logind:
            want(sleep?.tell(presence) ?? [])
            shared.delay.prepare(false)
        }
    }

    // MARK: The thread

    private func publish() {
        var readings = network?.readings ?? BusReadings()
        if network == nil { readings.isSettled = true }
        if let (reading, isSettled) = sleep?.reading {
            readings.isAboutToSleep = reading
            readings.isSettled = readings.isSettled && isSettled
        }
        readings.asked = wants
        shared.publish(readings)
    }

    private func wait() {
        if let connection {
            let patience = asked.values.compactMap(\.patience).min()
            // Its error is met again by the next step.
            _ = try? connection.wait(until: patience, or: [shared.told.number])
        } else {
            waitForBus()
        }
    }

    /// Tries are few after each change, and later none where changes are told.
    private func waitForBus() {
        let isTriedAgain = place == nil || failures <= BusWatch.pauses.count
        var items = [shared.told.number, place?.number ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&items, 2, isTriedAgain ? Int32(clamping: nextTry.millisecondsLeft) : -1)
        if items[1].revents & Int16(POLLNVAL) != 0 { place = nil }
        if place?.takeChanges() == true {
            failures = 0
            nextTry = .after(milliseconds: 0)
        }
    }
}
