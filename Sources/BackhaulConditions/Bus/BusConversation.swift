internal import BackhaulBus
internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Talks to the system bus on the thread of `BusWatch`. It sends the views' calls, gives them replies and signals, and
/// waits. A call is repeated only after a change.
final class BusConversation {
    private struct Asked {
        var question: BusQuestion
        /// When silence is reported; nil after it was reported. A reply is accepted at any time.
        var patience: Deadline?
    }

    private let address: String?
    private let shared: BusWatch.Shared
    private var wants: ConditionNeeds = []
    private var network: NetworkManagerView?
    private var sleep: LogindView?

    private var connection: BusConnection?
    private var asked: [UInt64: Asked] = [:]
    /// The calls to send next, in this order.
    private var questions: [BusQuestion] = []
    /// The failed attempts to connect since the bus last replied, or since its socket's directory changed.
    private var failures = 0
    /// Watches where the bus would listen, while there is no connection.
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
                    // Messages may have added calls.
                    if isIdle { try ask() }
                }
            } catch {
                disconnected(error)
            }
            publish()
            if isIdle { wait() }
        }
    }

    // MARK: Needs

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
        case .refused(_, let sentence): why = "the system bus refuses to report changes: \(sentence.prefix(200))"
        default:
            let place = address ?? "the configured address, which names no socket of this machine"
            why = connection == nil ? "there is no system bus at \(place)" : "the system bus at \(place) disconnected"
        }
        connection = nil
        asked = [:]
        questions = []
        for name in names { tell(.absent(why: why), of: name) }
        // A view may have added calls to the absent service. They cannot be sent.
        questions = []
        if place == nil { place = address.flatMap { BusAddress.path(of: $0) }.flatMap { BusPlace(path: $0) } }
        nextTry = Deadline.after(milliseconds: BusWatch.pauses[min(failures, BusWatch.pauses.count - 1)] * 1_000)
        failures += 1
    }

    // MARK: Calls

    private func want(_ more: [BusQuestion]) {
        for question in more where !questions.contains(question) { questions.append(question) }
    }

    /// Sends the waiting calls. A call that has no reply yet is repeated after its reply, which may be older than the
    /// change.
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

    // MARK: Received messages

    /// Handles received messages, at most 100, so that a flood does not block the thread. Returns true when none is
    /// left.
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
            // Any process may send us a signal. It counts only if it comes from the owner of the name.
            if sender == network?.presence.owner {
                want(changedPath(message).map { network?.changed(at: $0) ?? [] } ?? [])
            } else if sender == sleep?.presence.owner, message.isSignal("PrepareForSleep", of: BusName.logind.manager) {
                guard let isPreparing = try? message.readBool() else { return }
                shared.delay.prepare(isPreparing)
                want(sleep?.prepare(isPreparing, isDelayed: shared.delay.isHeld) ?? [])
            }
        }
    }

    /// The path of the object whose properties have changed, or that has appeared.
    private func changedPath(_ message: BusMessage) -> String? {
        if message.isSignal("PropertiesChanged", of: "org.freedesktop.DBus.Properties") { return message.path }
        if message.isSignal("InterfacesAdded", of: "org.freedesktop.DBus.ObjectManager") {
            return try? message.readString("o")
        }
        return nil
    }

    /// Reads the signal's three strings: the name, its old owner and its new one, which is empty for none.
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

    /// Handles a service that came, left or was replaced. Calls to the former service get no reply any more.
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
            // The next step meets the same error.
            _ = try? connection.wait(until: patience, or: [shared.told.number])
        } else {
            waitForBus()
        }
    }

    /// Waits for the next attempt to connect. Attempts are few after each change. Later ones are made only after
    /// changes, if changes can be watched.
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
