// swift-tools-version: 6.0
// In a checkout of Backhaul: the package beside this one, with the library that `make` builds.
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
