import CBackhaul
import Glibc

/// What was observed in a run. It is in memory that the processes of the run share, so it outlives those that are
/// killed.
struct Observation: Equatable {
    enum Kind: UInt32 {
        case processStarts, processIsKilled, powerFails, processExits
        case daemonStarts, daemonIsKilled, libraryIsNewer, engineIsIncompatible
        case programIsLaunched, launchIsWrong, sessionIsCompleted
        case outageBegins, outageEnds, calendarIsSet, programPauses, programStops, diskFills, systemCallFails
        case taskIsAccepted, enqueueFails, hiddenDirectoryIsAccepted
        case configurationIs, hasSecondConsumer, listingIsWrong
        case taskIsCancelled, taskIsSuspended, taskIsResumed
        case taskSucceeds, taskFails, taskWasCancelled, sessionFinishes
        case isAcknowledged, callFails
        case request, requestIsRefused, pauseIsDemanded, upload, limitIsPassed, secretIsRevealed, secretIsMissing
        case uploadRequest, uploadIsMade, uploadIsUsed, uploadIsShortened, uploadIsLost, uploadIsRemoved, offsetIsWrong
        case bodyChangeBegins, bodyIsChanged, partIsSentAgain, chainIsBroken
        case fileIsRight, fileIsWrong, fileIsMissing
        case allIsDone
        case acknowledges, eventIsLost, fileIsLeft, inspectionEnds
        case challengeIsOpen, secretIsOffered, secretIsTaken, secretIsSent, taskIsRefused
        case claims, fileIsClaimed, eventHasOldPath
        case eventIsOfRound, enqueueIsWrong
        case groupIsCancelled, groupFinishes, groupFinishesEarly, groupIsWrong
        case keyIsChosen, pathIsTaken

        /// The end of a task in this state; nil: the task has not ended.
        init?(endIn state: bh_task_state) {
            switch Int(state) {
            case BH_TASK_SUCCEEDED: self = .taskSucceeds
            case BH_TASK_FAILED: self = .taskFails
            case BH_TASK_CANCELLED: self = .taskWasCancelled
            default: return nil
            }
        }
    }

    /// Whether it is the event about the end of a task.
    var isEnd: Bool { [.taskSucceeds, .taskFails, .taskWasCancelled].contains(kind) }
    /// Whether it is an event of the library.
    var isEvent: Bool { isEnd || [.sessionFinishes, .groupFinishes].contains(kind) }

    var time: Int64
    var kind: Kind
    /// The number of the program; 0: none.
    var program = 0
    /// The number of the task in the history; -1: none.
    var task = -1
    /// More numbers. `Story` says what they mean for each kind.
    var first: Int64 = 0
    var second: Int64 = 0
}

/// The shared memory of a run.
struct Journal {
    private struct Header {
        var choice: Choice
        var count: Int
        /// The number of observations of the kinds that the first histories had.
        var progress: UInt64
        /// The simulated time at which the last process of the run has ended.
        var time: Int64
        /// Milliseconds by which the calendar was set.
        var calendar: Int64
        /// When the machine was started.
        var bootTime: Int64
        var boots: Int64
        /// The number of the next fault of the history.
        var nextFault: Int
        var uploadCount: Int
        var partCount: Int
    }

    static let room = 200_000
    static let uploadRoom = 10_000
    static let partRoom = 10_000
    // Unsafe: the memory is mapped until the process ends, and only one thread of one process runs.
    private let memory: UnsafeMutableRawPointer

    init() {
        let size =
            MemoryLayout<Header>.stride + Self.room * MemoryLayout<Observation>.stride
            + Self.uploadRoom * MemoryLayout<StoredUpload>.stride
            + Self.partRoom * MemoryLayout<StoredPart>.stride
        memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        begin(Choice(seed: 0))
    }

    private var header: UnsafeMutablePointer<Header> { memory.assumingMemoryBound(to: Header.self) }
    private var observations: UnsafeMutablePointer<Observation> {
        (memory + MemoryLayout<Header>.stride).assumingMemoryBound(to: Observation.self)
    }

    /// Forgets the last run, and begins the run of a choice.
    func begin(_ choice: Choice) {
        header.initialize(
            to: Header(
                choice: choice, count: 0, progress: 0, time: 0, calendar: 0, bootTime: -100 * second, boots: 1,
                nextFault: 0, uploadCount: 0, partCount: 0))
    }

    var choice: Choice { header.pointee.choice }
    var time: Int64 {
        get { header.pointee.time }
        nonmutating set { header.pointee.time = newValue }
    }
    var calendar: Int64 {
        get { header.pointee.calendar }
        nonmutating set { header.pointee.calendar = newValue }
    }
    var bootTime: Int64 {
        get { header.pointee.bootTime }
        nonmutating set { header.pointee.bootTime = newValue }
    }
    var boots: Int64 {
        get { header.pointee.boots }
        nonmutating set { header.pointee.boots = newValue }
    }
    var nextFault: Int {
        get { header.pointee.nextFault }
        nonmutating set { header.pointee.nextFault = newValue }
    }

    func add(_ observation: Observation) {
        guard header.pointee.count < Self.room else { return }
        observations[header.pointee.count] = observation
        header.pointee.count += 1
        if observation.kind.rawValue <= Observation.Kind.allIsDone.rawValue { header.pointee.progress += 1 }
    }

    /// A number that grows with the run. The random numbers of a process follow from it.
    var progress: UInt64 { header.pointee.progress }

    var all: UnsafeBufferPointer<Observation> {
        UnsafeBufferPointer(start: observations, count: header.pointee.count)
    }

    /// The uploads that the servers have, by their numbers.
    var uploads: UnsafeMutableBufferPointer<StoredUpload> {
        let start = memory + MemoryLayout<Header>.stride + Self.room * MemoryLayout<Observation>.stride
        return UnsafeMutableBufferPointer(
            start: start.assumingMemoryBound(to: StoredUpload.self), count: header.pointee.uploadCount)
    }

    /// Adds an upload. Returns its number; nil if there is no room.
    func add(_ upload: StoredUpload) -> Int? {
        guard header.pointee.uploadCount < Self.uploadRoom else { return nil }
        header.pointee.uploadCount += 1
        uploads[header.pointee.uploadCount - 1] = upload
        return header.pointee.uploadCount - 1
    }

    /// The parts of uploads that servers of S3 have got.
    var parts: UnsafeMutableBufferPointer<StoredPart> {
        let start = UnsafeMutableRawPointer(uploads.baseAddress! + Self.uploadRoom)
        return UnsafeMutableBufferPointer(
            start: start.assumingMemoryBound(to: StoredPart.self), count: header.pointee.partCount)
    }

    /// Adds a part. Returns its place; nil if there is no room.
    func add(_ part: StoredPart) -> Int? {
        guard header.pointee.partCount < Self.partRoom else { return nil }
        header.pointee.partCount += 1
        parts[header.pointee.partCount - 1] = part
        return header.pointee.partCount - 1
    }
}
