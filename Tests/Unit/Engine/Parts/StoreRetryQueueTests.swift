import Testing

@testable import BackhaulEngine

/// If the store cannot do some work, for example because the disk is full, the engine repeats the work later.
@Suite("Work that the store could not do")
struct StoreRetryQueueTests {
    final class CallCounter {
        var names: [String] = []
    }

    let runtime = FakeRuntime()
    let done = CallCounter()

    @Test("one second after the first failure, all work that the store could not do is repeated one time, in order")
    func repeats() {
        let retries = StoreRetryQueue(runtime)
        retries.add { [done] in done.names.append("first") }
        runtime.advance(milliseconds: 600)
        retries.add { [done] in done.names.append("second") }
        runtime.advance(milliseconds: 399)
        #expect(done.names.isEmpty)
        runtime.advance(milliseconds: 1)
        #expect(done.names == ["first", "second"])
        runtime.advance(milliseconds: 10_000)
        #expect(done.names == ["first", "second"])
    }

    @Test("if repeated work fails again, it is repeated after another second")
    func failsAgain() {
        let retries = StoreRetryQueue(runtime)
        retries.add { [done] in
            retries.add { done.names.append("again") }
        }
        runtime.advance(milliseconds: 1_999)
        #expect(done.names.isEmpty)
        runtime.advance(milliseconds: 1)
        #expect(done.names == ["again"])
    }

    @Test("after `close`, work that the store could not do is not repeated")
    func closed() {
        let retries = StoreRetryQueue(runtime)
        retries.add { [done] in done.names.append("late") }
        retries.close()
        runtime.advance(milliseconds: 10_000)
        #expect(done.names.isEmpty)
    }
}
