internal import BackhaulLoop
internal import BackhaulPlatform

/// Calls its body when a file system is mounted, unmounted or remounted.
final class MountWatch {
    private let changes: MountChanges
    private let watch: any RuntimeWatch

    /// Returns nil if the list of mounts cannot be watched, for example without /proc.
    init?(_ runtime: any Runtime, _ changed: @escaping () -> [EngineEffect]) {
        guard let changes = try? MountChanges(),
            let watch = try? runtime.watch(changes.number, .urgent, changed)
        else { return nil }
        (self.changes, self.watch) = (changes, watch)
    }

    deinit { watch.cancel() }
}
