// swift-tools-version: 6.2
// Backhaul's modules. A target uses only targets that are above it in this file.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    // A debug build compiles a module at once, too: the compiler then reads each declaration one time, and not one time
    // for each batch of files. This saves a third of the processor time. The option for threads gives each file its own
    // object file, which the build tool needs. Without the last option, a second compiler expands each macro of the
    // tests again, for the interface of the module, which no module imports: an eighth of the build of the unit tests.
    .unsafeFlags(
        [
            "-whole-module-optimization", "-disable-batch-mode", "-num-threads", "1",
            "-no-emit-module-separately-wmo",
        ], .when(configuration: .debug)),
]

/// The modules of the library do not use Swift's module for regular expressions, which would make the library larger by
/// more than a tenth.
let plain: [SwiftSetting] =
    strict + [.unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])]

/// Optimizes a module for size. Most of these modules do little work: they run once for a call of the host, or they
/// wait for SQLite or a disk. The model is also optimized for size: an optimization for speed would save no processor
/// time in transfers of small files.
let small: [SwiftSetting] = plain + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

// The header of libpq is only needed for fleets, which this variable leaves out of a build.
let hasFleet = Context.environment["BACKHAUL_WITHOUT_POSTGRESQL"] == nil
let fleet: [SwiftSetting] = hasFleet ? [.define("FLEET")] : []

let package = Package(
    name: "Backhaul",
    products: [
        .library(name: "BackhaulLibrary", type: .dynamic, targets: ["BackhaulABI"]),
        .executable(name: "backhaul", targets: ["backhaul"]),
        .executable(name: "backhauld", targets: ["backhauld"]),
    ],
    targets: [
        // System modules. Each has a module map, and typed inline functions for what Swift cannot call (variadic
        // functions, macros).
        .systemLibrary(name: "CBackhaul", path: "include"),
        .systemLibrary(name: "CBackhaulTables", path: "Sources/CBackhaulTables"),
        .systemLibrary(name: "CBackhaulSystem", path: "bindings/swift/Sources/CBackhaulSystem"),
        .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
        .systemLibrary(name: "CUV", path: "Sources/CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CCrypto", path: "Sources/CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        // The archives of ncurses are linked into the command line, so that its package needs no further library.
        .systemLibrary(name: "CNcurses", path: "Sources/CNcurses", providers: [.apt(["libncurses-dev"])]),
        // Only the headers of libsystemd are needed here. The library is loaded when it is first used.
        .systemLibrary(name: "CSystemd", path: "Sources/CSystemd", providers: [.apt(["libsystemd-dev"])]),
        // Only the headers of libpq are needed here, too.
        .systemLibrary(name: "CPostgreSQL", path: "Sources/CPostgreSQL", providers: [.apt(["libpq-dev"])]),

        // The rules for forked children. They are in C, because no lazily initialized value of Swift may be used there.
        .target(name: "CProcess"),
        // Threads, locks, descriptors and clocks. No other module uses pthread.
        .target(name: "BackhaulPlatform", dependencies: ["CLinux", "CProcess"], swiftSettings: small),
        // Values and decisions, without any I/O.
        .target(name: "BackhaulModel", swiftSettings: small),
        // The database. No other module has SQL.
        .target(
            name: "BackhaulStore", dependencies: ["BackhaulModel", "BackhaulPlatform", "CLinux", "CSQLite"],
            swiftSettings: small),
        // Commands, replies and notices as bytes.
        .target(name: "BackhaulWire", dependencies: ["BackhaulModel"], swiftSettings: small),
        // D-Bus. The module uses libsystemd, if this library is installed.
        .target(
            name: "BackhaulBus", dependencies: ["BackhaulPlatform", "CLinux", "CSystemd"], swiftSettings: small),
        // The communication with systemd: services of the user manager, lingering, and the journal.
        .target(
            name: "BackhaulUserManager", dependencies: ["BackhaulModel", "BackhaulPlatform", "BackhaulBus", "CLinux"],
            swiftSettings: small),
        // The event loop.
        .target(name: "BackhaulLoop", dependencies: ["BackhaulPlatform", "CLinux", "CUV"], swiftSettings: small),
        // Part files. Threads of this module write, sync and finish them.
        .target(
            name: "BackhaulDisk", dependencies: ["BackhaulModel", "BackhaulPlatform", "CCrypto", "CLinux"],
            swiftSettings: small),
        // HTTP.
        .target(
            name: "BackhaulTransport",
            dependencies: ["BackhaulModel", "BackhaulLoop", "BackhaulPlatform", "CCurl", "CLinux"],
            swiftSettings: plain),
        // The conditions of the system (power, heat, pressure, network) and their changes.
        .target(
            name: "BackhaulConditions",
            dependencies: ["BackhaulModel", "BackhaulPlatform", "BackhaulBus", "BackhaulLoop", "CLinux"],
            swiftSettings: small),
        // The engine of a store. It performs the model's actions with the modules above, and serves the clients.
        .target(
            name: "BackhaulEngine",
            dependencies: [
                "CBackhaul", "CBackhaulTables", "BackhaulModel", "BackhaulPlatform", "BackhaulStore", "BackhaulWire",
                "BackhaulLoop", "BackhaulDisk", "BackhaulTransport", "BackhaulConditions", "BackhaulUserManager",
            ], swiftSettings: small),
        // The client in a host. It finds or starts the engine, sends commands, and waits for replies. If an engine
        // ends, the client sends its open commands to the next engine.
        .target(
            name: "BackhaulClient",
            dependencies: [
                "CLinux", "BackhaulModel", "BackhaulPlatform", "BackhaulStore", "BackhaulWire", "BackhaulDisk",
                "BackhaulEngine", "BackhaulUserManager",
            ],
            swiftSettings: small),
        // Fleets: stores in PostgreSQL, and the workers that drain them. No module below uses PostgreSQL.
        .target(
            name: "BackhaulFleet",
            dependencies: [
                "CLinux", "CPostgreSQL", "BackhaulModel", "BackhaulPlatform", "BackhaulWire", "BackhaulDisk",
                "BackhaulEngine", "BackhaulClient",
            ],
            swiftSettings: small),
        // The daemon: an engine without a host.
        .target(
            name: "BackhaulDaemon",
            dependencies: [
                "CBackhaul", "CBackhaulTables", "CLinux", "BackhaulModel", "BackhaulPlatform", "BackhaulStore",
                "BackhaulTransport", "BackhaulEngine", "BackhaulUserManager",
            ],
            swiftSettings: small),
        // The functions that include/backhaul.h declares.
        .target(
            name: "BackhaulABI",
            dependencies: [
                "CBackhaul", "CBackhaulTables", "CLinux", "BackhaulModel", "BackhaulPlatform", "BackhaulStore",
                "BackhaulDisk", "BackhaulEngine", "BackhaulClient", "BackhaulDaemon", "BackhaulFleet",
            ],
            swiftSettings: small + fleet),
        // The package for hosts in Swift. bindings/swift/Package.swift has the same targets, for hosts that use the
        // installed library. Here they are linked with the modules of the library.
        .target(
            name: "Backhaul", dependencies: ["CBackhaul", "CBackhaulSystem", "BackhaulABI"],
            path: "bindings/swift/Sources/Backhaul", swiftSettings: small + [.define("KEEPS_HEADER_NAMES")]),
        // The fixed texts of the page that `backhaul report` writes.
        .target(name: "CReportPage", exclude: ["page"]),
        // The command line. It uses the package for hosts in Swift.
        // The optimization for size makes the build of this module shorter by a sixth.
        .executableTarget(
            name: "backhaul",
            dependencies: [
                "CLinux", "CNcurses", "CReportPage", "Backhaul", "BackhaulModel", "BackhaulPlatform", "BackhaulBus",
                "BackhaulDisk", "BackhaulUserManager", "BackhaulFleet",
            ],
            swiftSettings: strict + fleet + [.unsafeFlags(["-Osize"], .when(configuration: .release))],
            linkerSettings: [.linkedLibrary(":libncursesw.a"), .linkedLibrary(":libtinfo.a")]),
        // The program of the daemon. `make` links it with the library instead of its modules.
        .executableTarget(name: "backhauld", dependencies: ["BackhaulABI"]),

        .target(name: "TestSupport", path: "Tests/Support/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "ModelTests", dependencies: ["BackhaulModel", "TestSupport"],
            path: "Tests/Unit/Model", swiftSettings: strict),
        .testTarget(
            name: "PlatformTests", dependencies: ["BackhaulPlatform", "CLinux", "TestSupport"],
            path: "Tests/Unit/Platform", swiftSettings: strict),
        .testTarget(
            name: "StoreTests",
            dependencies: ["BackhaulStore", "BackhaulModel", "BackhaulPlatform", "CSQLite", "TestSupport"],
            path: "Tests/Unit/Store", swiftSettings: strict),
        .testTarget(
            name: "BusTests", dependencies: ["BackhaulBus", "BackhaulPlatform"],
            path: "Tests/Unit/Bus", swiftSettings: strict),
        .testTarget(
            name: "UserManagerTests",
            dependencies: ["BackhaulUserManager", "BackhaulModel", "BackhaulPlatform", "BackhaulBus"],
            path: "Tests/Unit/UserManager", swiftSettings: strict),
        .testTarget(
            name: "WireTests", dependencies: ["BackhaulWire", "BackhaulModel", "TestSupport"],
            path: "Tests/Unit/Wire", exclude: ["RecordedFrames.txt"], swiftSettings: strict),
        .testTarget(
            name: "LoopTests", dependencies: ["BackhaulLoop", "BackhaulPlatform", "CLinux", "TestSupport"],
            path: "Tests/Unit/Loop", swiftSettings: strict),
        .testTarget(
            name: "DiskTests", dependencies: ["BackhaulDisk", "BackhaulModel", "BackhaulPlatform", "CLinux"],
            path: "Tests/Unit/Disk", swiftSettings: strict),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                "BackhaulTransport", "CCurl", "CLinux", "BackhaulLoop", "BackhaulModel", "BackhaulPlatform",
                "TestSupport",
            ],
            path: "Tests/Unit/Transport", swiftSettings: strict),
        .testTarget(
            name: "ConditionsTests",
            dependencies: [
                "BackhaulConditions", "BackhaulModel", "BackhaulPlatform", "BackhaulBus", "BackhaulLoop", "CLinux",
                "TestSupport",
            ],
            path: "Tests/Unit/Conditions", swiftSettings: strict),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "BackhaulEngine", "BackhaulClient", "BackhaulModel", "BackhaulPlatform", "BackhaulStore",
                "BackhaulDisk", "BackhaulTransport", "BackhaulWire",
            ],
            path: "Tests/Unit/Engine", swiftSettings: strict),
        .testTarget(
            name: "FleetTests",
            dependencies: [
                "BackhaulFleet", "BackhaulClient", "BackhaulModel", "BackhaulPlatform", "BackhaulWire", "TestSupport",
            ],
            path: "Tests/Unit/Fleet", swiftSettings: strict),
        .testTarget(
            name: "CommandTests", dependencies: ["backhaul", "Backhaul", "CBackhaul"],
            path: "Tests/Unit/Command", swiftSettings: strict),
        .testTarget(
            name: "ABITests", dependencies: ["BackhaulABI", "CBackhaul", "BackhaulModel", "BackhaulClient"],
            path: "Tests/Unit/ABI", swiftSettings: strict),

        // The inputs of the fuzzers are also tests. Only the build of scripts/fuzz uses CFuzzer.
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .target(
            name: "FuzzCalls", dependencies: ["CBackhaul"], path: "Tests/Fuzz/Calls",
            cSettings: [.unsafeFlags(["-Wshadow", "-Werror"])]),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "backhaul", "BackhaulBus", "BackhaulConditions", "BackhaulDisk", "BackhaulModel", "BackhaulPlatform",
                "BackhaulStore", "BackhaulTransport", "BackhaulWire", "CCurl", "CFuzzer", "CLinux", "CSQLite",
                "FuzzCalls",
            ],
            path: "Tests/Fuzz", exclude: ["CFuzzer", "Calls", "corpus", "fuzzer"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

if !hasFleet {
    let modules: Set = ["CPostgreSQL", "BackhaulFleet", "FleetTests"]
    package.targets.removeAll { modules.contains($0.name) }
    for target in package.targets {
        target.dependencies.removeAll { dependency in
            if case .byNameItem(let name, _) = dependency { modules.contains(name) } else { false }
        }
    }
}

// scripts/fuzz builds no other tests: with the sanitizers, they take minutes.
if Context.environment["BACKHAUL_FUZZER"] != nil {
    package.targets.removeAll { $0.type == .test && $0.name != "FuzzTests" }
}
