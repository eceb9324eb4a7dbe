import BackhaulLoop
import BackhaulPlatform
import Glibc
import Testing

/// A *loop* is an event loop on a thread of its own. A *job* is a closure that another thread posts to the
/// loop. The *context* is the object with the loop's state.
@Suite("A loop's thread")
struct LoopThreadTests {
    @Test("a loop's thread performs posted jobs in the order of posting")
    func order() async throws {
        let thread = try startLoop()
        let seen = Lock<[Int]>([])
        for number in 0..<1_000 { thread.post { _ in seen.withLock { $0.append(number) } } }
        thread.stop()
        #expect(seen.withLock { $0 } == Array(0..<1_000))
    }

    @Test("a loop's thread performs jobs that were posted before its stop, and drops later jobs")
    func stop() throws {
        let thread = try startLoop()
        let count = Lock(0)
        for _ in 0..<100 { thread.post { _ in count.withLock { $0 += 1 } } }
        thread.stop()
        #expect(!thread.post { _ in count.withLock { $0 += 1 } })
        thread.stop()
        #expect(count.withLock { $0 } == 100)
    }

    @Test("if the loop's context cannot be created, the start of the loop's thread throws the error")
    func makeFails() {
        #expect(throws: SystemError(code: ENOENT, messageStart: "no desk")) {
            _ = try LoopThread<LoopContext>(name: "test loop") { _ in
                throw SystemError(code: ENOENT, messageStart: "no desk")
            }
        }
    }

    @Test("when a loop's thread stops, the loop's context is freed on that thread")
    func contextEnds() throws {
        final class Witness {
            let ended: Lock<Bool>
            let thread = pthread_self()
            init(_ ended: Lock<Bool>) { self.ended = ended }
            deinit { ended.withLock { $0 = pthread_equal(thread, pthread_self()) != 0 } }
        }
        let ended = Lock(false)
        let thread = try LoopThread(name: "test loop") { _ in Witness(ended) }
        thread.stop()
        #expect(ended.withLock { $0 })
    }

    @Test("an idle loop waits without a time-out")
    func idle() async throws {
        let thread = try startLoop()
        let id = await thread.ask { _ in currentThreadID() }
        let limit = await waitLimit(ofThread: id)
        #expect(limit == -1)
        thread.stop()
    }

    @Test("a loop's thread loses no job when many threads post jobs at the same time")
    func manyThreads() throws {
        let thread = try startLoop()
        let count = Lock(0)
        let posters = try (0..<8).map { _ in
            try Thread(name: "poster") {
                for _ in 0..<2_000 { thread.post { _ in count.withLock { $0 += 1 } } }
            }
        }
        for poster in posters { poster.join() }
        thread.stop()
        #expect(count.withLock { $0 } == 16_000)
    }
}

/// A *loop* is an event loop. A *watch* calls back when a descriptor is readable or writable.
@Suite("A loop")
struct LoopTests {
    @Test("a loop calls a timer one time after each start of the timer")
    func timer() async throws {
        let thread = try startLoop()
        let calls: Int = await thread.event { context, done in
            var count = 0
            var timer: LoopTimer?
            timer = context.loop.timer {
                count += 1
                if count < 3 { timer?.start(milliseconds: 1) } else { done(count) }
            }
            context.kept.append(timer!)
            timer?.start(milliseconds: 0)
        }
        #expect(calls == 3)
        thread.stop()
    }

    @Test("a loop calls timers in the order of their times")
    func timerOrder() async throws {
        let thread = try startLoop()
        let order: [Int] = await thread.event { context, done in
            var seen: [Int] = []
            for delay in [30, 10, 20] {
                let timer = context.loop.timer {
                    seen.append(delay)
                    if seen.count == 3 { done(seen) }
                }
                timer.start(milliseconds: Int64(delay))
                context.kept.append(timer)
            }
        }
        #expect(order == [10, 20, 30])
        thread.stop()
    }

    @Test("a loop does not call a stopped or released timer")
    func timerStops() async throws {
        let thread = try startLoop()
        let called: Bool = await thread.event { context, done in
            let stopped = context.loop.timer { done(true) }
            stopped.start(milliseconds: 1)
            stopped.stop()
            do {
                let forgotten = context.loop.timer { done(true) }
                forgotten.start(milliseconds: 1)
            }
            let last = context.loop.timer { done(false) }
            last.start(milliseconds: 20)
            context.kept += [stopped, last]
        }
        #expect(!called)
        thread.stop()
    }

    @Test("work that is deferred to the end of a loop iteration is done before the jobs of the next iteration")
    func afterThisIteration() async throws {
        let thread = try startLoop()
        let seen = Lock<[String]>([])
        await thread.ask { context in
            thread.post { _ in seen.withLock { $0.append("job") } }
            context.loop.afterThisIteration { seen.withLock { $0.append("after") } }
            seen.withLock { $0.append("first") }
        }
        await thread.ask { _ in }
        #expect(seen.withLock { $0 } == ["first", "after", "job"])
        thread.stop()
    }

    @Test("work that is deferred to the end of a step is done once after all jobs, and after each deferred body")
    func afterThisStep() async throws {
        let thread = try startLoop()
        let seen = Lock<[String]>([])
        @Sendable func add(_ name: String) { seen.withLock { $0.append(name) } }
        await thread.ask { context in
            // Both jobs are posted while the loop is busy, so they run in one iteration.
            for name in ["job 1", "job 2"] {
                thread.post { context in
                    add(name)
                    context.loop.afterThisStep { add("end of jobs") }
                    context.loop.afterThisIteration {
                        add("body")
                        context.loop.afterThisStep { add("end of body") }
                    }
                }
            }
        }
        await thread.ask { _ in }
        await thread.ask { _ in }
        #expect(
            seen.withLock { $0 } == [
                "job 1", "job 2", "end of jobs", "end of jobs", "body", "end of body", "body", "end of body",
            ])
        thread.stop()
    }

    @Test("a loop reports a descriptor as readable as long as the descriptor has unread bytes")
    func readable() async throws {
        let pair = SocketPair()
        let thread = try startLoop()
        let calls: Int = await thread.event { context, done in
            var count = 0
            context.kept.append(
                try! context.loop.watch(pair.near, .readable) { interest in
                    #expect(interest == .readable)
                    count += 1
                    guard count == 3 else { return }
                    var byte: UInt8 = 0
                    read(pair.near, &byte, 1)
                    context.kept = []
                    done(count)
                })
            pair.send()
        }
        #expect(calls == 3)
        thread.stop()
        pair.close()
    }

    @Test("a loop reports a descriptor as writable only if a watch requests such reports")
    func writable() async throws {
        let pair = SocketPair()
        let thread = try startLoop()
        let seen: [Interest] = await thread.event { context, done in
            var seen: [Interest] = []
            var watch: Watch?
            watch = try! context.loop.watch(pair.near, .writable) { interest in
                seen.append(interest)
                if interest == .writable {
                    watch?.change(.readable)
                    pair.send()
                } else {
                    watch?.cancel()
                    done(seen)
                }
            }
            context.kept.append(watch!)
        }
        #expect(seen == [.writable, .readable])
        thread.stop()
        pair.close()
    }

    @Test("if a callback cancels a watch whose event is in the same loop iteration, the loop drops this event")
    func cancelledInIteration() async throws {
        let (one, two) = (SocketPair(), SocketPair())
        let thread = try startLoop()
        let calls: Int = await thread.event { context, done in
            var count = 0
            var watches: [Watch] = []
            for pair in [one, two] {
                watches.append(
                    try! context.loop.watch(pair.near, .readable) { _ in
                        count += 1
                        for watch in watches { watch.cancel() }
                        context.loop.afterThisIteration { done(count) }
                    })
            }
            one.send()
            two.send()
        }
        #expect(calls == 1)
        thread.stop()
        one.close()
        two.close()
    }

    @Test("if a closed descriptor's number is used again, the loop does not confuse the old and the new watch")
    func reusedNumber() async throws {
        let first = SocketPair()
        let thread = try startLoop()
        let reported: String = await thread.event { context, done in
            let old = try! context.loop.watch(first.near, .readable) { _ in done("old") }
            first.send()
            // The call of dup2 closes the watched descriptor, and gives its number to another socket.
            let second = SocketPair()
            dup2(second.near, first.near)
            let new = try! context.loop.watch(first.near, .readable) { _ in done("new") }
            old.cancel()
            second.send()
            context.kept += [old, new]
        }
        #expect(reported == "new")
        await thread.ask { $0.kept = [] }
        thread.stop()
        first.close()
    }

    @Test("a loop refuses to watch a number that is not an open descriptor")
    func badDescriptor() async throws {
        let thread = try startLoop()
        let code = await thread.ask { context in
            do throws(SystemError) {
                _ = try context.loop.watch(-1, .readable) { _ in }
                return Int32(0)
            } catch {
                return error.code
            }
        }
        #expect(code == EBADF)
        thread.stop()
    }

    @Test("a loop refuses to watch a regular file")
    func regularFile() async throws {
        let file = open("/proc/self/exe", O_RDONLY)
        defer { close(file) }
        let thread = try startLoop()
        let code = await thread.ask { context in
            do throws(SystemError) {
                _ = try context.loop.watch(file, .readable) { _ in }
                return Int32(0)
            } catch {
                return error.code
            }
        }
        #expect(code == EPERM)
        thread.stop()
    }

    @Test("a loop reports an error of a descriptor as all watched events, until the watch ends")
    func descriptorError() async throws {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        let (reader, writer) = (ends[0], ends[1])
        let thread = try startLoop()
        let seen: [Interest] = await thread.event { context, done in
            var seen: [Interest] = []
            // The write end of a pipe without a reader has an error.
            close(reader)
            context.kept.append(
                try! context.loop.watch(writer, [.readable, .writable]) { interest in
                    seen.append(interest)
                    guard seen.count == 3 else { return }
                    context.kept = []
                    done(seen)
                })
        }
        #expect(seen == Array(repeating: [.readable, .writable], count: 3))
        thread.stop()
        close(writer)
    }

    @Test("a second watch of a descriptor replaces the first, and the end of the first does not disturb the second")
    func replaced() async throws {
        let pair = SocketPair()
        let thread = try startLoop()
        let reported: String = await thread.event { context, done in
            let first = try! context.loop.watch(pair.near, []) { _ in done("first") }
            context.kept.append(try! context.loop.watch(pair.near, .readable) { _ in done("second") })
            context.loop.afterThisIteration {
                context.loop.afterThisIteration {
                    #expect(!first.change(.readable))
                    first.cancel()
                    pair.send()
                }
            }
        }
        #expect(reported == "second")
        await thread.ask { $0.kept = [] }
        thread.stop()
        pair.close()
    }

    @Test("a body that a timer defers runs without a wait, and so does a body that such a body defers")
    func deferredByTimer() async throws {
        let thread = try startLoop()
        let isDone: Bool = await thread.event { context, done in
            let timer = context.loop.timer {
                context.loop.afterThisIteration { context.loop.afterThisIteration { done(true) } }
            }
            context.kept.append(timer)
            timer.start(milliseconds: 5)
        }
        #expect(isDone)
        thread.stop()
    }
}
