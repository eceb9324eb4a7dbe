import Testing

@testable import BackhaulEngine

/// The number of bytes and files that wait for each file system.
@Suite("Downloads that wait for a disk")
struct DiskLoadTests {
    @Test("a hung file system uses up only a part of the memory, so tasks for other file systems can start")
    func oneHungDisk() {
        var load = DiskLoad()
        load.willWrite(1 << 30, to: 1)
        #expect(load.isBusy(1))
        #expect(!load.isBusy(2))
        #expect(!load.isFull)
    }

    @Test("no task starts while too many bytes wait for several file systems")
    func manyDisks() {
        var load = DiskLoad()
        for device in UInt64(1)...4 { load.willWrite(DiskLoad.unwrittenShare, to: device) }
        #expect(load.isFull)
        load.wrote(DiskLoad.unwrittenShare, to: 4)
        #expect(!load.isFull)
    }

    @Test("downloads keep their slots if many downloads already finish on the same file system")
    func finishing() {
        var load = DiskLoad()
        for _ in 0..<DiskLoad.finishingLimit { load.beginFinishing(on: 1) }
        #expect(load.isBusy(1))
        #expect(!load.isBusy(2))
        load.endFinishing(on: 1)
        #expect(!load.isBusy(1))
    }
}
