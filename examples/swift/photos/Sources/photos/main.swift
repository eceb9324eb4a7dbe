// A small program that downloads the files of a list. Backhaul's engine makes the transfers inside this program.
//
//   photos STORE LIST   enqueues the files of LIST and waits for them. Each line is "URL<tab>destination"
//   photos STORE        attaches to the session of an earlier run, and waits for the remaining files
//
// If the program is killed and started again, no file is lost, and none is downloaded twice. After all files have
// arrived, a run with the same list downloads the files that have changed.
import Backhaul
// This import is marked as @preconcurrency, because `stdout` is a global variable. The C library locks the stream.
@preconcurrency import Glibc

guard (2...3).contains(CommandLine.arguments.count) else {
    fputs("usage: photos STORE [LIST]\n", stderr)
    exit(2)
}
setlinebuf(stdout)
do {
    try await run(store: CommandLine.arguments[1], list: CommandLine.arguments.dropFirst(2).first)
} catch {
    fputs("photos: \(error)\n", stderr)
    exit(1)
}

func run(store: String, list: String?) async throws {
    let application = try await Application.open("org.example.photos", store: store, hosting: .embedded)
    let session: Session
    if let list {
        session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        // The requests have keys, so the enqueue may be repeated after a crash.
        let requests = try readList(list).enumerated().map { number, entry -> Request in
            var request = Request(url: entry.url, destination: entry.destination, idempotencyKey: "photo-\(number)")
            request.ifExists = .replace
            request.isOnlyIfChanged = true
            return request
        }
        print("enqueued \(try await session.enqueue(requests).count) files")
    } else {
        session = try await application.attachSession("gallery")
    }
    // If an earlier run has acknowledged the last event, no task is left.
    let hasTasks = try await session.tasks().first(where: { _ in true }) != nil
    let hasEvents = try await !session.poll().events.isEmpty
    if hasTasks || hasEvents {
        for try await event in session.events {
            show(event)
            try await session.acknowledge(event)
            if case .sessionFinished = event { break }
        }
    }
    try await session.complete()
    await application.close()
}

func show(_ event: Event) {
    switch event {
    case .sessionFinished(let ending): print("round \(ending.round) finished")
    case .challenge, .groupFinished, .activity, .unknown: break
    case .taskEnded(let task):
        switch task.outcome {
        case .succeeded(let path): print("done \(task.taskID) \(task.size) \(path)")
        case .failed(let error): print("lost \(task.taskID) \(task.url): \(error)")
        case .cancelled: print("lost \(task.taskID) \(task.url): cancelled")
        }
    }
}

func readList(_ path: String) throws -> [(url: String, destination: String)] {
    guard let file = fopen(path, "r") else {
        perror(path)
        exit(1)
    }
    defer { fclose(file) }
    var text: UnsafeMutablePointer<CChar>?
    var room = 0
    defer { free(text) }
    var entries: [(url: String, destination: String)] = []
    while getline(&text, &room, file) > 0, let line = text.map({ String(cString: $0) }) {
        let parts = line.split(whereSeparator: { $0 == "\t" || $0 == "\n" })
        if parts.count == 2 { entries.append((String(parts[0]), String(parts[1]))) }
    }
    return entries
}
