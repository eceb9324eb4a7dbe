internal import BackhaulBus
internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The connection to the system bus, on the thread of `BusWatch`. For each service, a *view* such as
/// `NetworkManagerView` stores what is known about the service. The client sends the calls that the views need, and
/// passes replies and signals to the views. It repeats a call only after the service has changed.
final class BusClient {
    private struct PendingRequest {
        var request: BusRequest
        /// The time at which the view is notified that no reply has arrived; nil after this notification. A later reply
        /// is still accepted.
        var replyDeadline: Deadline?
    }

    private let address: String?
    private let shared: BusWatch.Shared
    private var subscriptions: ConditionSet = []
    private var network: NetworkManagerView?
    private var sleep: LogindView?

    private var connection: BusConnection?
    private var pendingRequests: [UInt64: PendingRequest] = [:]
    /// The calls to send next, in this order.
    private var queuedRequests: [BusRequest] = []
    /// The number of failed attempts to connect. A reply from the bus resets the number to 0, and so does a change at
    /// the path of the bus's socket.
    private var failures = 0
    /// Watches the path of the bus's socket while there is no connection; nil if the path cannot be watched.
    private var socketWatch: BusSocketWatch?
    private var nextAttempt = Deadline.after(milliseconds: 0)

    init(address: String?, shared: BusWatch.Shared) {
        self.address = address
        self.shared = shared
    }

    func run() {
        while shared.isOpen {
            applyNeeds()
            var isIdle = true
            do throws(BusConnection.CallError) {
                if connection == nil, isDue { try connect() }
                if connection != nil {
                    try sendRequests()
                    isIdle = try receive()
                    expireRequests()
                    // The received messages may have queued more calls.
                    if isIdle { try sendRequests() }
                }
            } catch {
                disconnected(error)
            }
            publish()
            if isIdle { wait() }
        }
    }

    // MARK: Needs

    private func applyNeeds() {
        let now = shared.takeSubscriptions()
        let (added, gone) = (now.subtracting(subscriptions), subscriptions.subtracting(now))
        subscriptions = now
        for name in BusName.allCases where gone.contains(name.need) { forget(name) }
        if added.contains(.network) { network = NetworkManagerView() }
        if added.contains(.sleep) { sleep = LogindView() }
        guard connection != nil else { return }
        for name in BusName.allCases where added.contains(name.need) { enqueue(name.initialRequests) }
    }

    private func forget(_ name: BusName) {
        let isOfName: (BusRequest) -> Bool = { $0.service == name || name.initialRequests.contains($0) }
        pendingRequests = pendingRequests.filter { $0.value.request.service != name }
        queuedRequests.removeAll(where: isOfName)
        if connection != nil { enqueue(name.rules.map { .removeRule($0) }) }
        switch name {
        case .networkManager: network = nil
        case .logind:
            sleep = nil
            shared.inhibitor.end()
        }
    }

    // MARK: The connection

    private var isDue: Bool { nextAttempt.hasPassed && (socketWatch == nil || failures <= BusWatch.pauses.count) }

    private func connect() throws(BusConnection.CallError) {
        guard let address, let made = BusConnection(address: address) else { throw .broken(ECONNREFUSED) }
        connection = made
        socketWatch = nil
        for name in names { queuedRequests += name.initialRequests }
    }

    private var names: [BusName] {
        BusName.allCases.filter { subscriptions.contains($0.need) }
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
        pendingRequests = [:]
        queuedRequests = []
        for name in names { update(.absent(why: why), of: name) }
        // The update of a view may have queued calls to the absent service. These calls cannot be sent.
        queuedRequests = []
        if socketWatch == nil {
            socketWatch = address.flatMap { BusAddress.path(of: $0) }.flatMap { BusSocketWatch(path: $0) }
        }
        nextAttempt = Deadline.after(milliseconds: BusWatch.pauses[min(failures, BusWatch.pauses.count - 1)] * 1_000)
        failures += 1
    }

    // MARK: Calls

    private func enqueue(_ more: [BusRequest]) {
        for request in more where !queuedRequests.contains(request) { queuedRequests.append(request) }
    }

    /// Sends the queued calls. If an equal call was sent and has no reply yet, the queued call is sent after that
    /// reply. The queued call is needed, because that reply may be older than the service's last change.
    private func sendRequests() throws(BusConnection.CallError) {
        guard let connection else { return }
        let underWay = Set(pendingRequests.values.map(\.request))
        let now = queuedRequests.filter { !underWay.contains($0) }
        queuedRequests.removeAll { !underWay.contains($0) }
        for request in now {
            let cookie = try connection.send(request.method, request.arguments)
            pendingRequests[cookie] = PendingRequest(
                request: request, replyDeadline: .after(milliseconds: BusWatch.replyTimeoutMilliseconds))
        }
    }

    private func expireRequests() {
        for (cookie, one) in pendingRequests where one.replyDeadline?.hasPassed == true {
            pendingRequests[cookie]?.replyDeadline = nil
            update(.timedOut, to: one.request)
        }
    }

    // MARK: Received messages

    /// Handles at most 100 received messages, so that a flood does not block the thread. Returns true when no message
    /// is left.
    private func receive() throws(BusConnection.CallError) -> Bool {
        guard let connection else { return true }
        for _ in 0..<100 {
            switch try connection.step() {
            case .message(let message): try receive(message)
            case .progress: continue
            case .idle: return true
            }
        }
        return false
    }

    private func receive(_ message: BusMessage) throws(BusConnection.CallError) {
        if let cookie = message.replyCookie {
            guard let request = pendingRequests.removeValue(forKey: cookie)?.request else { return }
            let reply = request.reply(from: message)
            if case .addRule = request, case .refused(let name, let sentence) = reply {
                throw .refused(name: name, sentence: sentence)
            }
            update(reply, to: request)
        } else if message.sender == "org.freedesktop.DBus" {
            if message.isSignal("NameOwnerChanged", of: "org.freedesktop.DBus") { ownerChanged(message) }
        } else if let sender = message.sender {
            // Any process may send a signal to this connection. A signal counts only if its sender owns the service's
            // name.
            if sender == network?.presence.owner {
                enqueue(changedPath(message).map { network?.changed(at: $0) ?? [] } ?? [])
            } else if sender == sleep?.presence.owner, message.isSignal("PrepareForSleep", of: BusName.logind.manager) {
                guard let isPreparing = try? message.readBool() else { return }
                shared.inhibitor.prepare(isPreparing)
                enqueue(sleep?.prepare(isPreparing, isDelayed: shared.inhibitor.isHeld) ?? [])
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

    /// Reads the three strings of the signal NameOwnerChanged: the name, its old owner, and its new owner. The new
    /// owner is empty if the service has left the bus.
    private func ownerChanged(_ message: BusMessage) {
        guard let name = try? message.readString(), let name = BusName.allCases.first(where: { $0.text == name }),
            (try? message.readString()) != nil, let owner = try? message.readString()
        else { return }
        update(owner.isEmpty ? .absent(of: name) : .present(owner: owner), of: name)
    }

    private func update(_ reply: BusReply, to request: BusRequest) {
        switch request {
        case .addRule, .removeRule: break
        case .owner(let name):
            let presence = BusPresence(reply, of: name)
            if case .timedOut = reply {} else { failures = 0 }
            update(presence, of: name)
        case .properties(.networkManager): enqueue(network?.update(manager: reply) ?? [])
        case .properties(.logind):
            enqueue(sleep?.update(properties: reply) ?? [])
            shared.inhibitor.prepare(sleep?.isPreparingForSleep ?? false)
        case .connection(let path): network?.update(connection: path, reply)
        case .inhibit:
            if case .descriptor(let descriptor) = reply { shared.inhibitor.hold(descriptor) }
            sleep?.update(inhibit: reply)
        }
    }

    /// Handles a service that has joined the bus, has left it, or was replaced. Earlier calls to the service then get
    /// no reply.
    private func update(_ presence: BusPresence, of name: BusName) {
        guard presence != (name == .logind ? sleep?.presence : network?.presence) else { return }
        pendingRequests = pendingRequests.filter { $0.value.request.service != name }
        queuedRequests.removeAll { $0.service == name }
        switch name {
        case .networkManager: enqueue(network?.update(presence) ?? [])
        case .logind:
            enqueue(sleep?.update(presence) ?? [])
            shared.inhibitor.prepare(false)
        }
    }

    // MARK: The thread

    private func publish() {
        var readings = network?.readings ?? BusReadings()
        if network == nil { readings.isSettled = true }
        if let (reading, isSettled) = sleep?.reading {
            readings.isPreparingForSleep = reading
            readings.isSettled = readings.isSettled && isSettled
        }
        readings.requested = subscriptions
        shared.publish(readings)
    }

    private func wait() {
        if let connection {
            let replyDeadline = pendingRequests.values.compactMap(\.replyDeadline).min()
            // An error is ignored here, because the next `receive` fails with the same error.
            _ = try? connection.wait(until: replyDeadline, or: [shared.commands.number])
        } else {
            waitForBus()
        }
    }

    /// Waits until the next attempt to connect is due. If the path of the bus's socket can be watched, a few attempts
    /// follow each change of the path. After these attempts, waits for the next change.
    private func waitForBus() {
        let isTriedAgain = socketWatch == nil || failures <= BusWatch.pauses.count
        var items = [shared.commands.number, socketWatch?.number ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&items, 2, isTriedAgain ? Int32(clamping: nextAttempt.millisecondsLeft) : -1)
        if items[1].revents & Int16(POLLNVAL) != 0 { socketWatch = nil }
        if socketWatch?.takeChanges() == true {
            failures = 0
            nextAttempt = .after(milliseconds: 0)
        }
    }
}
