@testable import BackhaulConditions
import BackhaulModel
import Testing

/// A program that writes a *trigger* to such a file is notified of pressure.
@Suite("Pressure")
struct PressureTests {
    @Test(
        "pressure is read as a share of the last ten seconds, in whole percent",
        arguments: [
            ("some avg10=12.90 avg60=0.00 avg300=0.00 total=1\nfull avg10=99.00 avg60=0 avg300=0 total=0", UInt8(12)),
            ("some avg10=0.99 avg60=50.00 avg300=0.00 total=1", 0), ("some avg10=100.00", 100),
            ("some avg10=250.00", 100),
            ("full avg10=3.00\nsome avg10=2.00", 2),
        ])
    func percent(_ text: String, _ percent: UInt8) { #expect(PressureResource.percent(text) == percent) }

    @Test(
        "if the pressure file is malformed, the pressure is unknown",
        arguments: [
            "", "some", "some avg10=", "some avg10=abc", "some avg10=nan", "some avg10=inf", "some avg10=-1.00",
            "full avg10=3.00", "some avg60=3.00", "some avg10=0x10 avg60=", "some avg10=1e1", "some avg10=+3.00",
            "some avg10=.", "\u{0}\u{0}", "avg10=5.00",
        ])
    func nonsense(_ text: String) {
        #expect(PressureResource.percent(text) == nil)
    }

    @Test("if the kernel has no pressure files or a file is unreadable, the reading's `source` says so")
    func missing() {
        let tree = FakeTree()
        let files = SystemTree(root: tree.root)
        #expect(PressureResource.cpu.read(files).source.hasPrefix("no \(tree.root)/pressure: the kernel"))
        tree.makeFolder("pressure/io")
        #expect(PressureResource.io.read(files).value == nil)
        #expect(PressureResource.io.read(files).source == "\(tree.root)/pressure/io is no file: Invalid argument")
        tree.write("pressure/memory", "some avg10=4.20 avg60=0.00 avg300=0.00 total=0")
        #expect(PressureResource.memory.read(files) == Reading(4, source: "\(tree.root)/pressure/memory"))
    }

    @Test("if a pressure file is a regular file, no trigger is written to the file")
    func noTrigger() throws {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0"
        let tree = FakeTree(["pressure/cpu": text])
        #expect(PressureTrigger(.cpu, in: SystemTree(root: tree.root)) == nil)
        #expect(try SystemTree(root: tree.root).text("pressure/cpu") == text)
    }
}
