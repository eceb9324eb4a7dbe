// swift-tools-version: 6.0
// This package is for a checkout of Backhaul. It uses the package in bindings/swift, and the library that `make`
// builds.
import PackageDescription

let package = Package(
    name: "images",
    dependencies: [.package(name: "Backhaul", path: "../../../bindings/swift")],
    targets: [
        .executableTarget(
            name: "images", dependencies: [.product(name: "BackhaulURLSession", package: "Backhaul")])
    ],
    swiftLanguageModes: [.v6]
)
