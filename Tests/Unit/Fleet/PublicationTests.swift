import BackhaulModel
import Glibc
import TestSupport
import Testing

@testable import BackhaulFleet

@Suite("The fence in the file system")
struct PublicationTests {
    private let scratch = Scratch()
    private var directory: String { scratch.path }

    func publication(run: Int64, replaces: Bool = false) -> Publication {
        Publication(
            TaskRun(task: TaskID(rawValue: 5), run: run), of: "fleet", destination: directory + "/file",
            replaces: replaces)
    }

    func write(_ text: String, to path: String) {
        let file = fopen(path, "w")
        fputs(text, file)
        fclose(file)
    }

    private func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 100)
        fgets(&line, 100, file)
        return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test("the file gets its final name", arguments: [false, true])
    func placement(replaces: Bool) {
        let publication = publication(run: 1, replaces: replaces)
        write("new", to: publication.temporaryPath)
        let inode = publication.temporaryInode
        #expect(publication.place() == .placed)
        #expect(text(of: directory + "/file") == "new")
        #expect(publication.temporaryInode == nil)
        #expect(publication.destinationInode == inode)
    }

    @Test("an existing file is replaced only if the request permits it")
    func existingFile() {
        write("old", to: directory + "/file")
        write("new", to: publication(run: 1).temporaryPath)
        guard case .failed(let failure) = publication(run: 1).place() else {
            Issue.record("the file was placed")
            return
        }
        #expect(failure.status == .destinationExists)
        #expect(text(of: directory + "/file") == "old")
        #expect(publication(run: 1, replaces: true).place() == .placed)
        #expect(text(of: directory + "/file") == "new")
    }

    @Test("after another run has adopted the file, a zombie publishes nothing", arguments: [false, true])
    func zombie(replaces: Bool) {
        let zombie = publication(run: 1, replaces: replaces)
        write("file", to: zombie.temporaryPath)
        let next = publication(run: 2, replaces: replaces)
        #expect(next.adopt(from: 1) == .adopted)
        #expect(zombie.place() == .gone)
        #expect(next.destinationInode == nil)
        #expect(next.place() == .placed)
        #expect(zombie.place() == .gone)
    }

    @Test("the temporary files of earlier runs are removed, and those of this run and of later ones are not")
    func earlierFiles() {
        let runs: [Int64] = [1, 2, 3, 4]
        for run in runs { write("file", to: publication(run: run).temporaryPath) }
        func left() -> [Int64] { runs.filter { publication(run: $0).temporaryInode != nil } }
        publication(run: 1).removeEarlierTemporaryFiles()
        #expect(left() == runs)
        publication(run: 3).removeEarlierTemporaryFiles()
        #expect(left() == [3, 4])
        publication(run: 3).removeTemporaryFile()
        #expect(left() == [4])
    }

    @Test("a file is found in whatever run its workers were lost")
    func chain() {
        write("file", to: publication(run: 2).temporaryPath)
        let last = publication(run: 5)
        #expect(last.adopt(from: 1) == .adopted)
        #expect(last.adopt(from: 1) == .adopted)
        #expect(last.place() == .placed)
    }

    @Test("if the lost worker has published the file, its inode shows this")
    func publishedFile() {
        let lost = publication(run: 1)
        write("file", to: lost.temporaryPath)
        let inode = lost.temporaryInode
        #expect(lost.place() == .placed)
        let next = publication(run: 2)
        #expect(next.adopt(from: 1) == .missing)
        #expect(next.destinationInode == inode)
        #expect(next.confirm() == .placed)
    }

    /// In a process of its own: its other threads cannot open files either.
    @Test("without a free descriptor for the directory, the file keeps its temporary name")
    func noDescriptor() async {
        await #expect(processExitsWith: .success) {
            let tests = PublicationTests()
            let publication = tests.publication(run: 1, replaces: true)
            tests.write("file", to: publication.temporaryPath)
            guard case .unavailable = withoutFreeDescriptors({ publication.place() }) else {
                throw Failure(.internal, "the file is placed, or has failed")
            }
            #expect(publication.destinationInode == nil)
            #expect(publication.place() == .placed)
        }
    }

    @Test("without its directory, a file does not count as lost")
    func absentDirectory() {
        let run = TaskRun(task: TaskID(rawValue: 5), run: 2)
        let publication = Publication(run, of: "fleet", destination: directory + "/absent/file", replaces: true)
        guard case .unavailable(let failure) = publication.adopt(from: 1) else {
            Issue.record("the file counts as lost")
            return
        }
        #expect(failure.status == .destinationUnavailable)
        guard case .unavailable = publication.confirm() else {
            Issue.record("a name in an absent directory counts as durable")
            return
        }
    }

    @Test("a file is not placed below a reserved directory, also if a symbolic link leads there")
    func reservedDirectory() {
        let inner = directory + "/inner"
        mkdir(inner, 0o700)
        defer { rmdir(inner) }
        symlink(inner, directory + "/link")
        for reserved in [inner, directory].map(ReservedDirectory.init) {
            for folder in [inner, directory + "/link"] {
                #expect(throws: Failure.self) { try reserved.check(folder + "/file") }
                let run = TaskRun(task: TaskID(rawValue: 5), run: 1)
                let publication = Publication(
                    run, of: "fleet", destination: folder + "/file", replaces: true, reserved: reserved)
                write("file", to: publication.temporaryPath)
                defer { publication.removeTemporaryFile() }
                guard case .failed(let failure) = publication.place() else {
                    Issue.record("the file was placed")
                    return
                }
                #expect(failure.status == .invalidArgument)
                #expect(publication.destinationInode == nil)
            }
        }
    }

    @Test("files are placed beside a reserved directory")
    func directoryBeside() throws {
        let inner = directory + "/inner"
        mkdir(inner, 0o700)
        defer { rmdir(inner) }
        try ReservedDirectory(path: inner).check(directory + "/file")
    }

    @Test("a worker that was lost between the two steps of a link is continued")
    func halfLink() {
        let lost = publication(run: 1)
        write("file", to: lost.temporaryPath)
        #expect(link(lost.temporaryPath, directory + "/file") == 0)
        let next = publication(run: 2)
        #expect(next.adopt(from: 1) == .adopted)
        #expect(next.place() == .placed)
        #expect(next.temporaryInode == nil)
    }
}
