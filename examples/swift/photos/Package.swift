// swift-tools-version: 6.0
// A small host. `swift run --package-path examples/swift/photos photos STORE [LIST]`, after `make`.
// It has its own folder, because a package is identified by its folder's name, and its dependency's folder is `swift`.
import PackageDescription

let package = Package(
    name: "photos",
    dependencies: [.package(name: "Backhaul", path: "../../../bindings/swift")],
    targets: [
        .executableTarget(name: "photos", dependencies: [.product(name: "Backhaul", package: "Backhaul")])
    ],
    swiftLanguageModes: [.v6]
)
