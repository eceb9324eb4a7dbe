// swift-tools-version: 6.0
// For a checkout of Backhaul: it uses the package in bindings/swift, with the library that `make` builds.
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
