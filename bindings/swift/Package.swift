// swift-tools-version: 6.0
// Backhaul for Swift: a package over the C API of libbackhaul.so, without Foundation.
import Glibc
import PackageDescription

// In a checkout of Backhaul the package uses the header and the library of that checkout (`make` builds it), and needs
// no installation. A copy of the package elsewhere uses the installed ones, found by pkg-config.
let checkout = Context.packageDirectory + "/../.."
let isInCheckout = access(checkout + "/include/backhaul.h", R_OK) == 0
let builtLibrary = Context.environment["BACKHAUL_LIBRARY_DIRECTORY"] ?? checkout + "/build/lib"

let package = Package(
    name: "Backhaul",
    products: [
        .library(name: "Backhaul", targets: ["Backhaul"])
    ],
    targets: [
        // The C API, and what Swift's Glibc module leaves out.
        .systemLibrary(name: "CBackhaul", pkgConfig: isInCheckout ? nil : "backhaul"),
        .target(
            name: "Backhaul", dependencies: ["CBackhaul"],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ],
            linkerSettings: isInCheckout
                ? [.unsafeFlags(["-L" + builtLibrary, "-Xlinker", "-rpath", "-Xlinker", builtLibrary])] : []),
        .testTarget(name: "BackhaulTests", dependencies: ["Backhaul"]),
    ],
    swiftLanguageModes: [.v6]
)
