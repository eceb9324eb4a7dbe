// swift-tools-version: 6.0
import Glibc
import PackageDescription

// The place of Backhaul's package: in a checkout, or below the prefix of an installation. A copy of this folder that is
// elsewhere uses the package of Debian; if yours has another place, change the path.
let places = ["../../../bindings/swift", "../../../../../backhaul/swift"].map { "\(Context.packageDirectory)/\($0)" }
let backhaul = places.first { access("\($0)/Package.swift", R_OK) == 0 } ?? "/usr/share/backhaul/swift"

let package = Package(
    name: "images",
    dependencies: [.package(name: "Backhaul", path: backhaul)],
    targets: [
        .executableTarget(
            name: "images", dependencies: [.product(name: "BackhaulURLSession", package: "Backhaul")])
    ],
    swiftLanguageModes: [.v6]
)
