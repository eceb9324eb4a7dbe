// swift-tools-version: 6.0
// A small host. Run `make`, and then `swift run --package-path examples/swift/photos photos STORE [LIST]`.
// The package is not in the folder `examples/swift`, because Swift identifies a package by the name of its folder. The
// package on which it depends is already in a folder with the name `swift`.
import PackageDescription

let package = Package(
    name: "photos",
    dependencies: [.package(name: "Backhaul", path: "../../../bindings/swift")],
    targets: [
        .executableTarget(name: "photos", dependencies: [.product(name: "Backhaul", package: "Backhaul")])
    ],
    swiftLanguageModes: [.v6]
)
