// swift-tools-version: 6.0
// A small program that uses Backhaul. To start it, run `make`, and then
// `swift run --package-path examples/swift/photos photos STORE [LIST]`.
// Swift identifies a package by the name of its folder. This package depends on the package in `bindings/swift`, whose
// name is `swift`. So this package must not be in the folder `examples/swift`.
import PackageDescription

let package = Package(
    name: "photos",
    dependencies: [.package(name: "Backhaul", path: "../../../bindings/swift")],
    targets: [
        .executableTarget(name: "photos", dependencies: [.product(name: "Backhaul", package: "Backhaul")])
    ],
    swiftLanguageModes: [.v6]
)
