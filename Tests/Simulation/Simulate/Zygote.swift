import CSimulation
import Glibc

/// A process that forks the processes of all runs, and otherwise changes nothing. So each process of a run begins with
/// the same memory, and the same choice gives the same run, whatever ran before.
struct Zygote {
    private let requests: Int32
    private let results: Int32

    init(_ journal: Journal, folder: String) {
        let (request, result) = (Self.makePipe(), Self.makePipe())
        (requests, results) = (request.end, result.start)
        guard fork() == 0 else {
            close(request.start)
            close(result.end)
            return
        }
        close(request.end)
        close(result.start)
        Self.serve(request.start, result.end, journal, folder)
    }

    /// Runs one process of a run, and returns its status as waitpid(2) does.
    func runProcess() -> Int32 {
        var status: Int32 = 0
        write(requests, &status, 1)
        read(results, &status, MemoryLayout<Int32>.size)
        return status
    }

    private static func makePipe() -> (start: Int32, end: Int32) {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        return (ends[0], ends[1])
    }

    private static func serve(_ requests: Int32, _ results: Int32, _ journal: Journal, _ folder: String) -> Never {
        var status: Int32 = 0
        sim_end_with_parent()
        while read(requests, &status, 1) == 1 {
            let process = fork()
            if process == 0 {
                sim_end_with_parent()
                close(requests)
                close(results)
                run(journal, disk: folder + "/disk")
            }
            waitpid(process, &status, 0)
            write(results, &status, MemoryLayout<Int32>.size)
        }
        _exit(0)
    }

    private static func run(_ journal: Journal, disk: String) -> Never {
        let history = History(journal.choice)
        world = World(history, journal, folder: disk)
        sim_begin(
            journal.choice.seed &* 31 &+ journal.progress, History.calendar + journal.time + journal.calendar,
            journal.time - journal.bootTime)
        world.machine.loadFiles(below: disk)
        if journal.all.isEmpty { world.machine.endAtStep() }
        world.machine.begin()
        world.programs.begin()
        sim_sleep()
    }
}
