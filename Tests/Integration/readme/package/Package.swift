// swift-tools-version: 6.0
// A package for the README's Swift host. The test writes the host's code beside this file, and replaces BINDINGS by a
// path.
import PackageDescription

let package = Package(
    name: "host",
    dependencies: [.package(name: "Backhaul", path: "BINDINGS")],
    targets: [
        .executableTarget(name: "host", dependencies: [.product(name: "Backhaul", package: "Backhaul")])
    ]
)
