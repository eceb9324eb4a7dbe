import BackhaulLoop
import BackhaulPlatform
import CLinux
import Glibc
import TestSupport
import Testing

/// Starts a timer that is due after the test has closed and opened its descriptors, so that the loop wakes only then.
/// Returns whether the loop's thread waits for the timer.
private func waitsForTimer(_ thread: DeskThread) async -> Bool {
    let id = await thread.ask { desk in
        let timer = desk.loop.timer {}
        timer.start(milliseconds: 500)
        desk.kept.append(timer)
        return currentThreadID()
    }
    return await waitLimit(ofThread: id) ?? 0 > 0
}

/// Each test runs in a separate process, whose descriptors are all closed.
@Suite("A host that closes every descriptor it finds")
struct ClosedDescriptorTests {
    @Test("the loop reports an error, performs jobs and can be stopped")
    func closeAll() async {
        await #expect(processExitsWith: .success) {
            let runners = await RunnersDescriptors()
            let broken = Lock(0)
            let thread = try startLoop(broken: { desk in
                precondition(desk.loop.isBroken)
                broken.change { $0 += 1 }
            })
            let pair = SocketPair()
            await thread.ask { desk in desk.kept.append(try! desk.loop.watch(pair.near, .readable) { _ in }) }
            guard await waitsForTimer(thread) else { exit(EXIT_FAILURE) }
            runners.closeOthers()
            _ = broken.wait(until: nil) { $0 == 1 ? true : nil }
            let answer = await thread.ask { desk in
                // These calls on a broken loop are harmless.
                let timer = desk.loop.timer { fatalError("a timer of a broken loop") }
                timer.start(milliseconds: 0)
                desk.kept = []
                let watched = (try? desk.loop.watch(0, .readable) { _ in }) != nil
                return watched ? 1 : 42
            }
            thread.stop()
            exit(answer == 42 && broken.withLock { $0 } == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("jobs still reach a loop that waits without a timeout")
    func closeAllIdle() async {
        await #expect(processExitsWith: .success) {
            let runners = await RunnersDescriptors()
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

    @Test("a loop that waits without a timeout can be stopped")
    func stopIdle() async {
        await #expect(processExitsWith: .success) {
            let runners = await RunnersDescriptors()
            let thread = try startLoop()
            let id = await thread.ask { _ in currentThreadID() }
            guard await waitLimit(ofThread: id) == -1 else { exit(EXIT_FAILURE) }
            runners.closeOthers()
            thread.stop()
            exit(EXIT_SUCCESS)
        }
    }

    @Test("files that the host opens with the same numbers are not changed")
    func reusedNumbers() async {
        await #expect(processExitsWith: .success) {
            let runners = await RunnersDescriptors()
            let broken = Lock(0)
            let thread = try startLoop(broken: { _ in broken.change { $0 += 1 } })
            guard await waitsForTimer(thread) else { exit(EXIT_FAILURE) }
            runners.closeOthers()
            // The host opens files, epoll sets and event descriptors with all the closed numbers.
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
                // The host's epoll set contains only the host's descriptor, whose counter is unchanged.
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
