import BackhaulLoop
import BackhaulPlatform
import CLinux
import Glibc
import TestSupport
import Testing

/// Starts a timer that becomes due after 2 s. The test closes and opens descriptors before this time, so the loop
/// does not wake during these changes. Returns whether the loop's thread waits for the timer.
private func waitsForTimer(_ thread: TestLoopThread) async -> Bool {
    let id = await thread.ask { context in
        let timer = context.loop.timer {}
        timer.start(milliseconds: 2_000)
        context.kept.append(timer)
        return currentThreadID()
    }
    return await waitLimit(ofThread: id) ?? 0 > 0
}

/// The loop is an event loop on a thread of its own. A *job* is a closure that another thread gives to the loop. Each
/// test runs in a separate process, and closes all descriptors of that process.
@Suite("A program that closes all descriptors, even those of the library")
struct ClosedDescriptorTests {
    @Test("a loop whose descriptors were closed reports an error, performs jobs and can be stopped")
    func closeAll() async {
        await #expect(processExitsWith: .success) {
            let runners = await InheritedDescriptors()
            let broken = Lock(0)
            let thread = try startLoop(broken: { context in
                precondition(context.loop.isBroken)
                broken.change { $0 += 1 }
            })
            let pair = SocketPair()
            await thread.ask { context in context.kept.append(try! context.loop.watch(pair.near, .readable) { _ in }) }
            guard await waitsForTimer(thread) else { exit(EXIT_FAILURE) }
            runners.closeOthers()
            _ = broken.wait(until: nil) { $0 == 1 ? true : nil }
            let result = await thread.ask { context in
                // These calls on a broken loop are harmless.
                let timer = context.loop.timer { fatalError("a timer of a broken loop") }
                timer.start(milliseconds: 0)
                context.kept = []
                let watched = (try? context.loop.watch(0, .readable) { _ in }) != nil
                return watched ? 1 : 42
            }
            thread.stop()
            exit(result == 42 && broken.withLock { $0 } == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("jobs still reach an idle loop after its descriptors were closed")
    func closeAllIdle() async {
        await #expect(processExitsWith: .success) {
            let runners = await InheritedDescriptors()
            let broken = Lock(0)
            let thread = try startLoop(broken: { _ in broken.change { $0 += 1 } })
            let id = await thread.ask { _ in currentThreadID() }
            guard await waitLimit(ofThread: id) == -1 else { exit(EXIT_FAILURE) }
            runners.closeOthers()
            guard await thread.ask({ _ in 42 }) == 42, broken.withLock({ $0 }) == 1 else { exit(EXIT_FAILURE) }
            thread.stop()
            exit(EXIT_SUCCESS)
        }
    }

    @Test("an idle loop can be stopped after its descriptors were closed")
    func stopIdle() async {
        await #expect(processExitsWith: .success) {
            let runners = await InheritedDescriptors()
            let thread = try startLoop()
            let id = await thread.ask { _ in currentThreadID() }
            guard await waitLimit(ofThread: id) == -1 else { exit(EXIT_FAILURE) }
            runners.closeOthers()
            thread.stop()
            exit(EXIT_SUCCESS)
        }
    }

    @Test("a loop does not change files that get the numbers of the loop's closed descriptors")
    func reusedNumbers() async {
        await #expect(processExitsWith: .success) {
            let runners = await InheritedDescriptors()
            let broken = Lock(0)
            let thread = try startLoop(broken: { _ in broken.change { $0 += 1 } })
            guard await waitsForTimer(thread) else { exit(EXIT_FAILURE) }
            runners.closeOthers()
            // The test opens files, epoll sets and event descriptors with the numbers of all closed descriptors.
            var path = Array("/tmp/backhaul-loop-XXXXXX\0".utf8CString)
            let file = mkstemp(&path)
            unlink(path)
            var own: [Int32] = [file]
            for _ in 0..<16 {
                let set = epoll_create1(0)
                let counter = eventfd(0, 0)
                var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: 7))
                epoll_ctl(set, EPOLL_CTL_ADD, counter, &event)
                own += [set, counter, dup(file)]
            }
            _ = await thread.ask { _ in true }
            _ = broken.wait(until: nil) { $0 == 1 ? true : nil }
            thread.stop()
            guard lseek(file, 0, SEEK_END) == 0 else { exit(EXIT_FAILURE) }
            for (index, number) in own.enumerated() {
                guard fcntl(number, F_GETFD) >= 0 else { exit(EXIT_FAILURE) }
                guard index % 3 == 1 else { continue }
                // The test's epoll set contains only the test's descriptor, and the counter of this descriptor is
                // unchanged.
                var event = epoll_event()
                guard epoll_wait(number, &event, 1, 0) == 0 else { exit(EXIT_FAILURE) }
                var one: UInt64 = 1
                write(own[index + 1], &one, 8)
                guard epoll_wait(number, &event, 1, 0) == 1, event.data.fd == 7 else { exit(EXIT_FAILURE) }
            }
            exit(EXIT_SUCCESS)
        }
    }
}
