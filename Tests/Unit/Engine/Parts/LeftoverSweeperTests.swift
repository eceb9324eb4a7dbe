import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("The removal of leftovers")
struct LeftoverSweeperTests {
    /// A fake disk, which removes no file whose number is in `stuck`. The result for a file in `hung` comes later.
    final class Disk {
        var stuck: Set<UInt64> = []
        var hung: Set<UInt64> = []
        var late: [UInt64: (Result<Void, Failure>) -> [EngineEffect]] = [:]
        var inUse: Set<UInt64> = []
        var removed: [UInt64] = []
        var mountsChanged: (() -> [EngineEffect])?
        var effects: [EngineEffect] = []
    }

    let runtime = FakeRuntime()
    let disk = Disk()
    let sweeper: LeftoverSweeper

    init() {
        sweeper = LeftoverSweeper(
            runtime,
            LeftoverSweeper.Surroundings(
                isInUse: { [disk] in disk.inUse.contains($0.task.rawValue) },
                remove: { [disk] file, then in
                    let number = file.task.rawValue
                    if disk.hung.contains(number) {
                        disk.late[number] = then
                    } else if disk.stuck.contains(number) {
                        disk.effects += then(.failure(Failure(.destinationUnavailable, "stuck")))
                    } else {
                        disk.removed.append(number)
                        disk.effects += then(.success(()))
                    }
                },
                watchMounts: { [disk] changed in
                    disk.mountsChanged = changed
                    return disk
                }))
    }

    private func leftovers(_ numbers: UInt64..., nextRemoval: Int64? = nil) -> LeftoverPage {
        LeftoverPage(
            files: numbers.map { Leftover(task: TaskID(rawValue: $0), kind: .part(destinationPath: "/x"), part: 1) },
            nextRemoval: nextRemoval)
    }

    @Test("a retained part is removed when its time is over")
    func retained() throws {
        sweeper.sweep()
        try runtime.storeReturns(leftovers(nextRemoval: runtime.clocks.wallMilliseconds + 5_000))
        #expect(!sweeper.isSweeping)
        runtime.advance(milliseconds: 5_000)
        try runtime.storeReturns(leftovers(1))
        #expect(disk.removed == [1])
    }

    @Test("a file that cannot be removed stays in the list, and is tried again when the mounts change")
    func stuck() throws {
        disk.stuck = [2]
        sweeper.sweep()
        try runtime.storeReturns(leftovers(1, 2, 3))
        #expect(disk.removed == [1, 3])
        try runtime.storeReturns(())
        try runtime.storeReturns(leftovers())
        #expect(!sweeper.isSweeping)
        // A further sweep does not try the file again.
        disk.stuck = []
        sweeper.sweep()
        try runtime.storeReturns(leftovers(2, 4))
        try runtime.storeReturns(())
        try runtime.storeReturns(leftovers())
        #expect(disk.removed == [1, 3, 4])
        _ = disk.mountsChanged?()
        try runtime.storeReturns(leftovers(2))
        try runtime.storeReturns(())
        try runtime.storeReturns(leftovers())
        #expect(disk.removed == [1, 3, 4, 2])
        #expect(!sweeper.isSweeping)
    }

    @Test("a file system that does not respond delays the removal of other files for ten seconds at most")
    func hung() throws {
        disk.hung = [1]
        sweeper.sweep()
        try runtime.storeReturns(leftovers(1, 2))
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 10_000)
        try runtime.storeReturns(())
        try runtime.storeReturns(leftovers(3))
        #expect(disk.removed == [2, 3])
        try runtime.storeReturns(())
        try runtime.storeReturns(leftovers())
        #expect(!sweeper.isSweeping)
    }

    @Test("a file that a slow disk removes after the sweep is forgotten, and is not removed twice")
    func late() throws {
        disk.hung = [1]
        sweeper.sweep()
        try runtime.storeReturns(leftovers(1))
        runtime.advance(milliseconds: 10_000)
        try runtime.storeReturns(())
        try runtime.storeReturns(leftovers())
        disk.hung = []
        sweeper.sweep()
        try runtime.storeReturns(leftovers(1))
        try runtime.storeReturns(leftovers())
        #expect(disk.removed == [])
        _ = disk.late[1]?(.success(()))
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("files that are in use or cannot be removed do not hide later files of the list")
    func pages() throws {
        disk.inUse = [1]
        sweeper.sweep()
        try runtime.storeReturns(leftovers(1))
        try runtime.storeReturns(leftovers(2))
        #expect(disk.removed == [2])
        try runtime.storeReturns(())
        try runtime.storeReturns(leftovers())
        #expect(!sweeper.isSweeping)
    }

    @Test("if a file becomes a leftover during a sweep, another sweep follows")
    func again() throws {
        sweeper.sweep()
        sweeper.sweep()
        try runtime.storeReturns(leftovers())
        #expect(sweeper.isSweeping)
        try runtime.storeReturns(leftovers(1))
        #expect(disk.removed == [1])
        try runtime.storeReturns(())
        try runtime.storeReturns(leftovers())
        #expect(!sweeper.isSweeping)
    }
}
