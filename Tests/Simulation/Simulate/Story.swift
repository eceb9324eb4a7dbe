import CBackhaul
import CSimulation
import Glibc

/// Shows a run in words.
struct Story {
    let journal: Journal

    init(_ journal: Journal) { self.journal = journal }

    func show() {
        for one in journal.all {
            say(Self.clock(one.time), one.program > 0 ? "program \(one.program):" : "world:", sentence(one))
        }
    }

    /// A time as hours, minutes, seconds and milliseconds.
    static func clock(_ time: Int64) -> String {
        func padded(_ number: Int64, _ digits: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        let (hours, minutes, seconds) = (time / hour, time / (60 * second) % 60, time / second % 60)
        return "\(padded(hours, 2)):\(padded(minutes, 2)):\(padded(seconds, 2)).\(padded(time / 1_000 % 1_000, 3))"
    }

    static func name(_ status: Int64) -> String {
        libraries[1].status_name(bh_status(status)).map { String(cString: $0) } ?? "status \(status)"
    }

    private static func words(_ contradiction: Int64) -> String {
        Inspection.Contradiction(rawValue: contradiction).map { "\($0)" } ?? ""
    }

    private func sentence(_ one: Observation) -> String {
        let task = "task \(one.task)"
        return switch one.kind {
        case .processStarts: "a process starts"
        case .processIsKilled: "it is killed" + (one.program > 0 ? "" : ", as each program")
        case .powerFails: "the power fails"
        case .processExits: "it exits"
        case .daemonStarts: "the daemon starts"
        case .programIsLaunched: "the daemon launches it"
        case .launchIsWrong: "a launch is wrong: \(WrongLaunch(rawValue: one.first).map { "\($0)" } ?? "")"
        case .sessionIsCompleted: "its session is completed"
        case .daemonIsKilled: "the daemon is killed"
        case .libraryIsNewer: "processes that start now use a newer library"
        case .engineIsIncompatible: "its engine has another version"
        case .outageBegins: "no server answers"
        case .outageEnds: "the servers answer again"
        case .calendarIsSet: "the calendar is set by \(one.first / second) s"
        case .diskFills: "the disk has no space for \(one.first / second) s"
        case .systemCallFails: "call \(one.first) of the process fails with errno \(one.second)"
        case .programPauses: "it does nothing for \(one.first / second) s"
        case .programStops: "its threads stop for \(one.first / millisecond) ms"
        case .taskIsAccepted: "\(task) is accepted as task id \(one.first)"
        case .enqueueFails: "\(task) is refused: \(Self.name(one.first))"
        case .configurationIs: "\(one.first) tasks may run at the same time, says the configuration"
        case .hasSecondConsumer: "the session has a second consumer"
        case .listingIsWrong: "the listing of task id \(one.first) is wrong: \(Self.words(one.second))"
        case .hiddenDirectoryIsAccepted: "a download is accepted into a directory that the daemon does not see"
        case .taskIsCancelled: "it cancels \(task)"
        case .taskSucceeds: "event \(one.first): \(task) has succeeded"
        case .taskFails: "event \(one.first): \(task) has failed: \(Self.name(one.second))"
        case .taskWasCancelled: "event \(one.first): \(task) was cancelled"
        case .sessionFinishes: "event \(one.first): round \(one.second) is finished"
        case .isAcknowledged: "event \(one.first) is acknowledged"
        case .callFails: "a call fails: \(Self.name(one.first))"
        case .request: "a server gets a request for \(task)" + (one.first >= 0 ? " from byte \(one.first)" : "")
        case .limitIsPassed: "\(one.first) tasks run at the same time"
        case .secretIsRevealed: "the secret header of \(task) is sent to another origin"
        case .secretIsMissing: "a request for \(task) lacks the secret header"
        case .taskIsSuspended: "it suspends \(task)"
        case .taskIsResumed: "it resumes \(task)"
        case .requestIsRefused: "a server does not act on the request for \(task)"
        case .pauseIsDemanded: "a server demands a pause until \(Self.clock(one.first)) for \(task)"
        case .offsetIsWrong: "the rest of upload \(one.first) of \(task) begins at a wrong byte"
        case .chainIsBroken: "\(task) does not follow the task that it waits for"
        case .fileIsRight: "the file of \(task) is version \(one.first)"
        case .fileIsWrong: "the file of \(task) has \(one.first) wrong bytes"
        case .fileIsMissing: "the file of \(task) is missing"
        case .allIsDone: "it is done"
        case .acknowledges: "it acknowledges event \(one.first)"
        case .eventIsLost: "event \(one.first) was received and not acknowledged, and does not come again"
        case .fileIsLeft: "a file that belongs to no task is left: \(one.text)"
        case .inspectionEnds: "it has inspected what is left"
        case .claims: "it claims the file of \(task)"
        case .fileIsClaimed: "the file of \(task) is claimed"
        case .eventHasOldPath: "the event of \(task) does not have the path to which its file was moved"
        case .eventIsOfRound: "event \(one.first) is of round \(one.second)"
        case .groupIsCancelled: "it cancels group \(one.first)"
        case .groupFinishes: "event \(one.first): group \(one.finishedGroup.group), \(one.finishedGroup.counts)"
        case .groupFinishesEarly: "event \(one.first): the group of \(task) finishes before the task ends"
        case .groupIsWrong: "event \(one.first) of \(task) names another group"
        case .keyIsChosen: "\(task) has the idempotency key of task \(one.first)"
        case .pathIsTaken: "it makes another file at the old path of \(task)"
        case .enqueueIsWrong: "\(task) is enqueued again, and the result does not show its end"
        case .upload, .uploadRequest, .uploadIsMade, .uploadIsUsed, .uploadIsShortened, .uploadIsLost,
            .uploadIsRemoved, .partIsSentAgain, .bodyChangeBegins, .bodyIsChanged:
            uploadSentence(one)
        case .challengeIsOpen, .secretIsOffered, .secretIsTaken, .secretIsSent, .taskIsRefused:
            secretSentence(one)
        }
    }

    private func uploadSentence(_ one: Observation) -> String {
        let task = "task \(one.task)"
        return switch one.kind {
        case .upload: "a server stores the body of \(task)" + (one.first < 0 ? ", which is a mixture" : "")
        case .uploadRequest: "a server gets a request for the upload of \(task), with \(one.second) bytes"
        case .uploadIsMade: "a server makes upload \(one.first) of \(task)"
        case .uploadIsUsed: "the request is for upload \(one.first)"
        case .uploadIsShortened: "a server has lost upload \(one.first) of \(task) from byte \(one.second) on"
        case .uploadIsLost: "a server does not know upload \(one.first) of \(task)"
        case .uploadIsRemoved: "a server removes upload \(one.first) of \(task)"
        case .partIsSentAgain: "part \(one.second) of upload \(one.first) of \(task) is sent again"
        case .bodyChangeBegins: "it begins to change the file of \(task)"
        case .bodyIsChanged: "the file of \(task) has changed"
        default: ""
        }
    }

    private func secretSentence(_ one: Observation) -> String {
        let task = "task \(one.task)"
        return switch one.kind {
        case .challengeIsOpen: "challenge \(one.first) is open, of kind \(one.second)"
        case .secretIsOffered: "it responds with secret \(one.first) to a challenge of kind \(one.second)"
        case .secretIsTaken: "secret \(one.first) is taken"
        case .secretIsSent:
            "the request for \(task) has secret \(one.first)" + (one.second == 0 ? ", and is refused" : "")
        case .taskIsRefused: "\(task) has failed because of status \(one.first)"
        default: ""
        }
    }
}

/// Writes a line. `print` has a buffer, and each fork of this process would have a copy.
func say(_ words: String...) {
    let line = Array((words.joined(separator: " ") + "\n").utf8)
    _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}
