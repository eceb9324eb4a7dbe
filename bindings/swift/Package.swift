// swift-tools-version: 6.0
// Backhaul for Swift: a package that calls the C API of libbackhaul.so, for hosts. Backhaul's own package has the same
// targets, linked with the library's modules. The module `Backhaul` does not use Foundation.
// The types of `BackhaulFoundation` have the structure of Apple's URLSession. `BackhaulURLSession` gives these types
// Apple's names.
import Glibc
import PackageDescription

// In a checkout of Backhaul, the package uses the header of that checkout, and the library that `make` built there.
// Outside a checkout, the package uses the installed header and the installed library, which pkg-config finds.
let checkout = Context.packageDirectory + "/../.."
let isInCheckout = access(checkout + "/include/backhaul.h", R_OK) == 0
let builtLibrary = Context.environment["BACKHAUL_LIBRARY_DIRECTORY"] ?? checkout + "/build/lib"

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// An installation has no tests.
let tests: [Target] =
    isInCheckout
    ? [
        .target(name: "HostTestSupport", path: "Tests/HostTestSupport"),
        .executableTarget(
            name: "LaunchedProgram", dependencies: ["BackhaulFoundation"], path: "Tests/LaunchedProgram"),
        .executableTarget(
            name: "KilledProgram", dependencies: ["BackhaulFoundation"], path: "Tests/KilledProgram"),
        .testTarget(name: "BackhaulTests", dependencies: ["Backhaul", "HostTestSupport"]),
        .testTarget(
            name: "BackhaulFoundationTests",
            dependencies: ["BackhaulFoundation", "HostTestSupport", "LaunchedProgram", "KilledProgram"]),
    ] : []

let package = Package(
    name: "Backhaul",
    products: [
        .library(name: "Backhaul", targets: ["Backhaul"]),
        .library(name: "BackhaulFoundation", targets: ["BackhaulFoundation"]),
        .library(name: "BackhaulURLSession", targets: ["BackhaulURLSession"]),
    ],
    targets: [
        // The C API. In Backhaul's own package, the module with this name is the folder `include`.
        .systemLibrary(name: "CBackhaul", pkgConfig: isInCheckout ? nil : "backhaul"),
        // C functions that Swift's Glibc module does not have.
        .systemLibrary(name: "CBackhaulSystem"),
        .target(
            name: "Backhaul", dependencies: ["CBackhaul", "CBackhaulSystem"],
            swiftSettings: strict,
            linkerSettings: isInCheckout
                ? [.unsafeFlags(["-L" + builtLibrary, "-Xlinker", "-rpath", "-Xlinker", builtLibrary])] : []),
        // This target has sessions, tasks and delegates with the structure of URLSession.
        .target(name: "BackhaulFoundation", dependencies: ["Backhaul"], swiftSettings: strict),
        // This target gives the types of BackhaulFoundation Apple's names. So programs for Linux and for Apple's
        // systems can share source files.
        .target(name: "BackhaulURLSession", dependencies: ["BackhaulFoundation"], swiftSettings: strict),
    ] + tests,
    swiftLanguageModes: [.v6]
)
