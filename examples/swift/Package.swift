// swift-tools-version: 6.0
// A small host. `swift run --package-path examples/swift photos STORE [LIST]`, after `make`.
import PackageDescription

let package = Package(
    name: "photos",
    dependencies: [.package(name: "Backhaul", path: "../../bindings/swift")],
    targets: [
        .executableTarget(name: "photos", dependencies: [.product(name: "Backhaul", package: "Backhaul")])
    ],
    swiftLanguageModes: [.v6]
)
