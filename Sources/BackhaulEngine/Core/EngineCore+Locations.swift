internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

extension EngineCore {
    /// Where a task's part file lies while it grows, and what it becomes. The name is the task's own for ever, so that
    /// whoever runs the task next finds it, and no two tasks of any store share one.
    func location(of task: StoredTask) -> PartLocation {
        let destination = task.request.destination ?? keptDestination(of: task.id)
        return PartLocation(
            destination: destination, partName: Self.partName(tag: tag, task.id, task.part),
            mode: task.request.mode,
            replace: task.request.destination == nil || task.request.ifExists != .fail)
    }

    /// `part`: a random number that makes the name unpredictable. 0: the task was made by an earlier version.
    static func partName(tag: String, _ task: TaskID, _ part: UInt64) -> String {
        let secret = part == 0 ? "" : "-" + String(part, radix: 16)
        return ".backhaul-\(tag)-\(task.rawValue)\(secret).part"
    }

    /// A disk that does not answer may change these part files long after the engine has ended.
    func renewParts(named names: Set<String>, then: @escaping @Sendable () -> Void) {
        let tasks = runners.values.compactMap { runner in
            (runner as? DownloadRunner).flatMap { names.contains($0.location.partName) ? $0.task.id : nil }
        }
        store({ (transaction) throws(Failure) in
            for task in tasks { try transaction.renewPart(of: task) }
        }, then: { _, _ in then() })
    }

    func path(of leftover: Leftover) -> String {
        switch leftover.kind {
        case .part(let path):
            (path.map(Destination.directory(of:)) ?? services.directory.keptPath) + "/"
                + Self.partName(tag: tag, leftover.task, leftover.part)
        case .kept: services.directory.keptFile(of: leftover.task)
        }
    }

    /// A running download still holds its own part file.
    func isInUse(_ leftover: Leftover) -> Bool {
        (runners[leftover.task] as? DownloadRunner)?.task.part == leftover.part
    }

    private func keptDestination(of task: TaskID) -> Destination {
        Destination(
            path: services.directory.keptFile(of: task), directoryDevice: kept.directoryDevice,
            directoryInode: kept.directoryInode)
    }

    /// A download that replaced the store's own files would destroy it.
    func checkIsOutsideStore(_ destination: Destination) throws(Failure) {
        let directory = (destination.directoryDevice, destination.directoryInode)
        guard !storeFolders.contains(where: { $0 == directory }) else {
            throw Failure(
                .invalidArgument,
                "the destination \(destination.path) lies inside the store; choose a directory outside of it")
        }
    }
}
