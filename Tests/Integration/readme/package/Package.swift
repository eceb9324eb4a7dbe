// swift-tools-version: 6.0
// The package around the README's Swift host; the test puts the block beside this and the path in here.
import PackageDescription

let package = Package(
    name: "host",
    dependencies: [.package(name: "Backhaul", path: "BINDINGS")],
    targets: [
        .executableTarget(name: "host", dependencies: [.product(name: "Backhaul", package: "Backhaul")])
    ]
)
