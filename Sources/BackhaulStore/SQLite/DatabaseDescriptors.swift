internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The files that SQLite opened for the database and its log, and their descriptors. `ForkGuard` closes the copies of
/// the descriptors in forked children.
///
/// If one of the files was removed or replaced, all writes to the old file are lost when the last descriptor of that
/// file is closed.
struct DatabaseDescriptors {
    private let directory: Descriptor
    private let names: [String]
    /// For each name, the file that had this name when this struct was initialised. Nil if no file had the name.
    private let named: [FileIdentity?]
    private var numbers: [Int32] = []

    /// Finds the files among this process's descriptors, because SQLite does not report the numbers of its descriptors.
    init(directory: Descriptor, names: [String]) {
        self.directory = directory
        self.names = names
        named = names.map { try? Self.file(named: $0, in: directory) }
        // The list needs no limit: the kernel limits the number of descriptors.
        for name in (try? DirectoryReader.textNames(in: "/proc/self/fd", limit: .max)) ?? [] {
            guard let number = Int32(name), let file = FileIdentity(of: number), named.contains(file) else { continue }
            numbers.append(number)
            ForkGuard.add(number)
        }
    }

    func excludeFromForkGuard() { for number in numbers { ForkGuard.remove(number) } }

    /// Throws if one of the files was removed, or if another file has replaced it, or if the disk does not report
    /// this.
    func checkNames(of store: StoreDirectory) throws(Failure) {
        for (name, file) in zip(names, named) where file != nil {
            let present: FileIdentity?
            do throws(SystemError) {
                present = try Self.file(named: name, in: directory)
            } catch {
                throw store.fileFailure(name, error.code)
            }
            guard present != file else { continue }
            throw Failure(
                .storeUnavailable,
                "the file \(name) of the store \(store.path) was removed or replaced while the store was open; put it "
                    + "back, and open the application again")
        }
    }

    /// Whether another file has this name now. True if the disk does not report this.
    func mayBeReplaced(_ name: String) -> Bool {
        do {
            guard let found = try Self.file(named: name, in: directory) else { return false }
            return !named.contains(found)
        } catch {
            return true
        }
    }

    private static func file(named name: String, in directory: Descriptor) throws(SystemError) -> FileIdentity? {
        if let file = FileIdentity(named: name, in: directory) { return file }
        guard bhl_errno() == ENOENT else { throw .last("cannot find") }
        return nil
    }
}
