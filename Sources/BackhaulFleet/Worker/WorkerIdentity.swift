internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The id of a worker. It is stored in the worker's directory together with the id of the fleet, so a restarted worker
/// continues its own tasks, and no transfer of another fleet. The file is locked while the worker runs, so no two
/// processes have the same id.
final class WorkerIdentity {
    let id: String
    /// The id of the fleet.
    let fleet: String
    private let file: Descriptor

    init(directory: String, fleet: String) throws(FleetError) {
        self.fleet = fleet
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw Self.error(.last("cannot make \(directory)"))
        }
        let path = directory + "/worker"
        let number = bhl_open(path, O_RDWR | O_CREAT, 0o600)
        guard number >= 0 else { throw Self.error(.last("cannot open \(path)")) }
        file = Descriptor(owning: number)
        guard bhl_lock_exclusive(number) == 0 else {
            throw FleetError(.inUse, "another worker uses \(directory); give this worker a directory of its own")
        }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = pread(number, &bytes, bytes.count, 0)
        let stored = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        guard stored.isEmpty else {
            guard stored.count == 2, stored[1] == fleet else {
                throw FleetError(
                    .inUse,
                    "\(directory) belongs to a worker of another fleet; give this worker a directory of its own")
            }
            id = String(stored[0])
            return
        }
        id = Self.random()
        do throws(SystemError) {
            try file.write(Array("\(id)\n\(fleet)\n".utf8)[...], at: 0)
            guard fsync(number) == 0 else { throw .last("cannot write") }
        } catch {
            throw Self.error(SystemError(code: error.code, messageStart: "cannot write \(path)"))
        }
    }

    private static func random() -> String {
        let high = String(UInt64.random(in: .min ... .max), radix: 16)
        return high + String(UInt64.random(in: .min ... .max), radix: 16)
    }

    private static func error(_ error: SystemError) -> FleetError {
        FleetError(.system(.storeUnavailable, code: error.code, error.description))
    }
}
