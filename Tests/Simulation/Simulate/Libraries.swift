import CBackhaul
import CSimulation
import Glibc

/// The copies of the library, by the numbers of the processes that use them. They are loaded before the first run. The
/// first copy also gives the names of statuses.
// Unsafe: it is set once, before another thread exists.
nonisolated(unsafe) var libraries: [sim_library] = []

/// Loads the copies. The folder gets files for a moment.
func loadLibraries(_ folder: String) {
    mkdir(folder, 0o700)
    defer { rmdir(folder) }
    let file = getenv("BACKHAUL_LIBRARY").map { String(cString: $0) } ?? besideProgram("../lib/libbackhaul.so.1")
    libraries = (0...SIM_PROCESSES).map { $0 == 0 ? sim_library() : sim_load_library(file, folder, Int32($0)) }
}

extension sim_library {
    /// The items of a batch that have this kind. Their pointers are valid until the batch is released.
    func items<Value>(_ batch: OpaquePointer?, _ kind: Int, _ type: Value.Type) -> [Value] {
        (0..<batch_count(batch)).compactMap { index in
            batch_item(batch, index, bh_item_kind(kind), MemoryLayout<Value>.size)?
                .assumingMemoryBound(to: Value.self).pointee
        }
    }
}

private func besideProgram(_ path: String) -> String {
    let program = realpath("/proc/self/exe", nil)
    defer { free(program) }
    let folder = program.map { String(cString: $0) }?.split(separator: "/").dropLast() ?? []
    return "/" + folder.joined(separator: "/") + "/" + path
}
