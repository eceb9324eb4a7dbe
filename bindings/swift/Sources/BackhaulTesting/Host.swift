internal import CBackhaulTesting

/// A host that the test has started.
public final class Host: @unchecked Sendable {
    // Unchecked: any thread may use the pointer (backhaul_testing.h, "Threads"). The testbed owns it.
    // Unsafe: the pointer is valid as long as the testbed, to which this object has a reference.
    private let pointer: OpaquePointer
    private let testbed: Testbed

    init(_ testbed: Testbed, _ pointer: OpaquePointer) {
        self.testbed = testbed
        self.pointer = pointer
    }

    /// The process id.
    public var processID: Int32 { bht_process_id(pointer) }

    /// Kills the host with SIGKILL, and waits until it has ended.
    public func kill() { bht_kill(pointer) }

    /// Waits until the host has ended.
    ///
    /// - Throws: `BackhaulError` with `.timeout`, or with `.wrongState` if the host has failed. Then `detail` is the
    ///   exit code, or 128 plus the number of the signal that has killed the host.
    public func wait(timeout: Duration = .seconds(10)) async throws {
        try await waiting { [self] in
            try check { bht_wait_for_success(pointer, milliseconds(timeout), $0) }
        }
    }
}
