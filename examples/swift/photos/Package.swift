// swift-tools-version: 6.0
// A small host. `swift run --package-path examples/swift/photos photos STORE [LIST]`, after `make`.
// In a folder of its own: a package is known by its folder's name, and one called `swift` is already its dependency.
import PackageDescription

let package = Package(
    name: "photos",
    dependencies: [.package(name: "Backhaul", path: "../../../bindings/swift")],
    targets: [
        .executableTarget(name: "photos", dependencies: [.product(name: "Backhaul", package: "Backhaul")])
    ],
    swiftLanguageModes: [.v6]
)
