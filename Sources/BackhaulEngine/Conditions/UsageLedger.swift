internal import BackhaulModel
internal import BackhaulStore

/// The bytes that were transferred over each network, and their records in the store.
///
/// Each engine has one object of this type. New bytes are saved after 10 seconds. A budget limits the bytes of a day or
/// month. Bytes that count against a budget are saved after 1 second, or when they reach 1 MiB. If an engine is killed,
/// it loses the count of the bytes since the last save.
final class UsageLedger {
    private static let saveMilliseconds: Int64 = 10_000
    private static let budgetSaveMilliseconds: Int64 = 1_000
    private static let budgetSaveBytes: UInt64 = 1 << 20

    private let runtime: any Runtime
    /// Adds bytes that are not counted yet. It is called before a save.
    private let count: () -> [EngineEffect]
    private(set) var usage = ByteUsage()
    private var timer: (any RuntimeTimer)?
    /// Whether the timer runs with the shorter delay for budgets.
    private var isSavingSoon = false
    private var isSaving = false
    private var unsavedBytes: UInt64 = 0

    init(_ runtime: any Runtime, count: @escaping () -> [EngineEffect]) {
        self.runtime = runtime
        self.count = count
        timer = runtime.timer { [unowned self] in save() }
    }

    func close() { timer?.stop() }

    func open(_ entries: [ByteUsage.Entry]) { usage = ByteUsage(entries) }

    /// Adds bytes. `hasBudget`: whether the bytes count against a budget. Such bytes are saved soon, so that a crash
    /// loses few of them.
    func add(_ bytes: UInt64, on network: String, by session: SessionID, day: Int64, hasBudget: Bool) {
        usage.add(bytes, network: network, session: session, day: day)
        startTimer(isSoon: hasBudget)
        guard hasBudget else { return }
        unsavedBytes &+= bytes
        if unsavedBytes >= Self.budgetSaveBytes, !isSaving { write() }
    }

    private func startTimer(isSoon: Bool) {
        guard let timer, !timer.isRunning || isSoon && !isSavingSoon else { return }
        isSavingSoon = isSoon
        timer.start(milliseconds: isSoon ? Self.budgetSaveMilliseconds : Self.saveMilliseconds)
    }

    func save() -> [EngineEffect] {
        let effects = count()
        write()
        return effects
    }

    private func write() {
        unsavedBytes = 0
        let entries = usage.takeUnsaved()
        let removed = usage.takeRemoved()
        guard !entries.isEmpty || !removed.isEmpty else { return }
        isSaving = true
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.settings.saveUsage(entries, removing: removed)
            },
            then: { [unowned self] result in
                isSaving = false
                if case .failure = result {
                    usage.failedToSave(entries)
                    startTimer(isSoon: false)
                }
                return []
            })
    }
}
