// swift-tools-version: 6.0
// A package for the Swift program in the README. The test copies this package, adds the program's code, and replaces
// BINDINGS by the path of the bindings.
import PackageDescription

let package = Package(
    name: "host",
    dependencies: [.package(name: "Backhaul", path: "BINDINGS")],
    targets: [
        .executableTarget(name: "host", dependencies: [.product(name: "Backhaul", package: "Backhaul")])
    ]
)
