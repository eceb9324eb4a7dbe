import BackhaulBus

/// The jobs in KDE's list of notifications. A server of Plasma 5.18 or later has the interface org.kde.JobViewServerV2,
/// whose jobs have all properties in one call. Other servers have org.kde.JobViewServer.
final class JobViews {
    private enum Interface: String {
        case second = "org.kde.JobViewV2"
        case third = "org.kde.JobViewV3"
    }

    private struct View {
        let path: String
        let interface: Interface
        var shown: [String: BusValue] = [:]
    }

    /// The bits for a job that can be cancelled (1) and suspended (2).
    private static let capabilities: Int32 = 1 | 2
    /// KDE's code for a job that the user has cancelled (KIO::ERR_USER_CANCELED). The server removes such a job without
    /// a notification: this command sends one of its own when the round has ended.
    private static let quiet: UInt32 = 1

    private let bus: SessionBus
    private let desktopEntry: String
    private var views: [SessionKey: View] = [:]
    /// Whether the server has refused a job. It is not asked again before its next start.
    private var isRefused = false

    init(_ bus: SessionBus, desktopEntry: String) throws(CommandError) {
        self.bus = bus
        self.desktopEntry = desktopEntry
        try bus.follow(DesktopService.jobs)
    }

    /// Whether there is a server that shows the jobs.
    var isAvailable: Bool { bus.isRunning(DesktopService.jobs) && !isRefused }

    /// Shows these jobs and no others.
    func show(_ jobs: [SessionKey: JobProgress]) throws(CommandError) {
        guard isAvailable else { return }
        for (key, view) in views where jobs[key] == nil {
            views[key] = nil
            try end(view)
        }
        for (key, job) in jobs {
            if views[key] == nil { views[key] = try open() }
            guard var view = views[key] else { return isRefused = true }
            try update(&view, job.properties)
            views[key] = view
        }
    }

    /// The session whose job has sent this signal, and what the user has chosen.
    func request(_ signal: BusMessage) -> (SessionKey, JobRequest)? {
        guard let (key, view) = views.first(where: { $0.value.path == signal.path }) else { return nil }
        let requests: [(String, JobRequest)] = [
            ("suspendRequested", .suspend), ("resumeRequested", .resume), ("cancelRequested", .cancel),
        ]
        return requests.first { signal.isSignal($0.0, of: view.interface.rawValue) }.map { (key, $0.1) }
    }

    /// The server has started or ended. A new server has no jobs.
    func forgetServer() {
        views = [:]
        isRefused = false
    }

    private func open() throws(CommandError) -> View? {
        let hints: [(String, BusValue)] = [
            ("application-display-name", .string(DesktopService.name)),
            ("application-icon-name", .string(DesktopService.icon)),
        ]
        let arguments: [BusValue] = [.string(desktopEntry), .int32(JobViews.capabilities), .properties(hints)]
        if let path = try request("org.kde.JobViewServerV2", arguments) { return View(path: path, interface: .third) }
        let names: [BusValue] = [.string(DesktopService.name), .string(DesktopService.icon)]
        return try request("org.kde.JobViewServer", names + [.int32(JobViews.capabilities)])
            .map { View(path: $0, interface: .second) }
    }

    private func request(_ interface: String, _ arguments: [BusValue]) throws(CommandError) -> String? {
        let method = BusMethod(
            destination: DesktopService.jobs, path: "/JobViewServer", interface: interface, member: "requestView")
        return try bus.call(method, arguments).flatMap { try? $0.readString("o") }
    }

    /// Sends the properties that have changed.
    private func update(_ view: inout View, _ properties: [(name: String, value: BusValue)]) throws(CommandError) {
        let changed = properties.filter { view.shown[$0.name] != $0.value }
        if changed.isEmpty { return }
        for (name, value) in changed { view.shown[name] = value }
        if view.interface == .third { return try send(view, "update", [.properties(changed)]) }
        for (name, value) in changed {
            guard let (member, arguments) = JobViews.secondCall(name, value) else { continue }
            try send(view, member, arguments)
        }
    }

    private func end(_ view: View) throws(CommandError) {
        if view.interface == .third {
            return try send(view, "terminate", [.uint32(JobViews.quiet), .string(""), .properties([])])
        }
        try send(view, "setError", [.uint32(JobViews.quiet)])
        try send(view, "terminate", [.string("")])
    }

    private func send(_ view: View, _ member: String, _ arguments: [BusValue]) throws(CommandError) {
        try bus.send(
            BusMethod(
                destination: DesktopService.jobs, path: view.path, interface: view.interface.rawValue, member: member),
            arguments)
    }

    /// The call of org.kde.JobViewV2 for a property of org.kde.JobViewV3. Nil if another call has the property.
    private static func secondCall(_ name: String, _ value: BusValue) -> (member: String, arguments: [BusValue])? {
        switch name {
        case "title": ("setInfoMessage", [value])
        case "descriptionValue1": ("setDescriptionField", [.uint32(0), .string("File"), value])
        case "totalFiles": ("setTotalAmount", [value, .string("files")])
        case "processedFiles": ("setProcessedAmount", [value, .string("files")])
        case "totalBytes": ("setTotalAmount", [value, .string("bytes")])
        case "processedBytes": ("setProcessedAmount", [value, .string("bytes")])
        case "percent": ("setPercent", [value])
        case "speed": ("setSpeed", [value])
        case "suspended": ("setSuspended", [value])
        default: nil
        }
    }
}
