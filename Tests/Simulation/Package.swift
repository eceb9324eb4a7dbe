// swift-tools-version: 6.2
// The simulator: a program that runs the library, as `make` builds it, in a simulated world. It is a package of its
// own, because it is linked with the library, and not with the modules of the library.
import PackageDescription

let checkout = Context.packageDirectory + "/../.."

let package = Package(
    name: "Simulation",
    targets: [
        // The functions of the C library that are replaced.
        .target(name: "CSimulation", path: "CSimulation"),
        // The histories, the servers, the program that uses the library, and the checks.
        .executableTarget(
            name: "simulate", dependencies: ["CSimulation"], path: "Simulate",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error),
                .unsafeFlags(["-I\(checkout)/include"]),
            ],
            linkerSettings: [
                .linkedLibrary("backhaul"),
                .unsafeFlags(["-L\(checkout)/build/lib", "-Xlinker", "-rpath", "-Xlinker", "\(checkout)/build/lib"]),
            ]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)
