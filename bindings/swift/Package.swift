// swift-tools-version: 6.0
// Backhaul for Swift: a package that calls the C API of libbackhaul.so, for hosts. Backhaul's own package has the same
// targets, linked with the library's modules. The module `Backhaul` does not use Foundation.
// The types of `BackhaulFoundation` have the structure of Apple's URLSession. `BackhaulURLSession` gives these types
// Apple's names.
import Glibc
import PackageDescription

// The place of this folder decides which header and which library the package uses:
// - in a checkout of Backhaul, the header of the checkout, and the library that `make` built there;
// - below PREFIX/share/backhaul, where `make install` puts this folder, the header and the library below PREFIX;
// - elsewhere, those that pkg-config finds.
func exists(_ path: String) -> Bool { access(path, R_OK) == 0 }
let checkout = Context.packageDirectory + "/../.."
let isInCheckout = exists(checkout + "/include/backhaul.h")
let prefix = Context.packageDirectory + "/../../.."
let isInstalled = !isInCheckout && exists(prefix + "/include/backhaul.h") && exists(prefix + "/lib/libbackhaul.so")
let described = (Context.environment["PKG_CONFIG_PATH"] ?? "").split(separator: ":").map(String.init)

/// The folder of the library. Nil if ld and ld.so find the library by themselves.
let libraryFolder: String? =
    if isInCheckout {
        Context.environment["BACKHAUL_LIBRARY_DIRECTORY"] ?? checkout + "/build/lib"
    } else if isInstalled {
        prefix + "/lib"
    } else {
        // A file for pkg-config is in the folder `pkgconfig` beside the library.
        described.first { exists($0 + "/backhaul.pc") }.map { $0 + "/.." }
    }

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Only a checkout has the tests.
let tests: [Target] =
    !isInCheckout
    ? []
    : [
        .target(name: "HostTestSupport", path: "Tests/HostTestSupport"),
        .executableTarget(
            name: "LaunchedProgram", dependencies: ["BackhaulFoundation"], path: "Tests/LaunchedProgram"),
        .executableTarget(name: "StoryProgram", dependencies: ["Backhaul"], path: "Tests/StoryProgram"),
        .executableTarget(
            name: "KilledProgram", dependencies: ["BackhaulFoundation"], path: "Tests/KilledProgram"),
        .testTarget(name: "BackhaulTests", dependencies: ["Backhaul", "HostTestSupport"]),
        .testTarget(name: "BackhaulTestingTests", dependencies: ["BackhaulTesting", "StoryProgram"]),
        .testTarget(
            name: "BackhaulFoundationTests",
            dependencies: ["BackhaulFoundation", "HostTestSupport", "LaunchedProgram", "KilledProgram"]),
    ]

let package = Package(
    name: "Backhaul",
    products: [
        .library(name: "Backhaul", targets: ["Backhaul"]),
        .library(name: "BackhaulFoundation", targets: ["BackhaulFoundation"]),
        .library(name: "BackhaulURLSession", targets: ["BackhaulURLSession"]),
        .library(name: "BackhaulTesting", targets: ["BackhaulTesting"]),
    ],
    targets: [
        // The C API. In Backhaul's own package, the module with this name is the folder `include`.
        .systemLibrary(name: "CBackhaul", pkgConfig: isInCheckout || isInstalled ? nil : "backhaul"),
        // C functions that Swift's Glibc module does not have.
        .systemLibrary(name: "CBackhaulSystem"),
        .target(
            name: "Backhaul", dependencies: ["CBackhaul", "CBackhaulSystem"],
            swiftSettings: strict,
            linkerSettings: libraryFolder.map { folder in
                [.unsafeFlags(["-L" + folder, "-Xlinker", "-rpath", "-Xlinker", folder])]
            }),
        // This target has sessions, tasks and delegates with the structure of URLSession.
        .target(name: "BackhaulFoundation", dependencies: ["Backhaul"], swiftSettings: strict),
        // This target gives the types of BackhaulFoundation Apple's names. So programs for Linux and for Apple's
        // systems can share source files.
        .target(name: "BackhaulURLSession", dependencies: ["BackhaulFoundation"], swiftSettings: strict),
        // The test kit for hosts.
        .systemLibrary(name: "CBackhaulTesting", pkgConfig: isInCheckout || isInstalled ? nil : "backhaul"),
        .target(
            name: "BackhaulTesting", dependencies: ["Backhaul", "CBackhaul", "CBackhaulTesting"],
            swiftSettings: strict),
    ] + tests,
    swiftLanguageModes: [.v6]
)
