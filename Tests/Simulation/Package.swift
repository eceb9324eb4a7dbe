// swift-tools-version: 6.2
// The simulator: a program that runs the library, as `make` builds it, in a simulated world. It is a package of its
// own, because it loads the library, and does not contain the modules of the library.
import PackageDescription

let checkout = Context.packageDirectory + "/../.."

let package = Package(
    name: "Simulation",
    targets: [
        // The functions of the C library that are replaced.
        .target(
            name: "CSimulation", path: "CSimulation",
            cSettings: [.unsafeFlags(["-I\(checkout)/include", "-I\(checkout)/Sources/CLinux"])]),
        // The histories, the servers, the program that uses the library, and the checks.
        .executableTarget(
            name: "simulate", dependencies: ["CSimulation"], path: "Simulate",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error),
                .unsafeFlags(["-I\(checkout)/include"]),
            ],
            // The libraries that are loaded find the functions of this program.
            linkerSettings: [.unsafeFlags(["-Xlinker", "--export-dynamic"])]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)
