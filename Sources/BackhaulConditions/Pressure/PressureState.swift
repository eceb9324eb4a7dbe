internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux

/// A resource for which processes wait. The share of time in which they wait is the *pressure* on the resource
/// (Documentation/accounting/psi.rst in Linux).
enum PressureResource: String, CaseIterable, Sendable {
    case cpu, io, memory

    var need: ConditionSet {
        switch self {
        case .cpu: .cpuPressure
        case .io: .ioPressure
        case .memory: .memoryPressure
        }
    }

    var path: String { "pressure/\(rawValue)" }

    /// Reads the share of the last ten seconds in which at least one process waited, in percent.
    func read(_ tree: SystemTree) -> Reading<UInt8> {
        do {
            let text = try tree.text(path)
            guard let percent = PressureResource.percent(text) else {
                return Reading(source: "\(tree.full(path)) has no plausible avg10")
            }
            return Reading(percent, source: tree.full(path))
        } catch where error.code == ENOENT {
            return Reading(source: "no \(tree.full("pressure")): the kernel does not measure pressure (CONFIG_PSI)")
        } catch {
            return Reading(source: error.description)
        }
    }

    /// The avg10 of a line such as "some avg10=1.53 avg60=0.90 avg300=0.31 total=9340273".
    static func percent(_ text: String) -> UInt8? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.first == "some", let field = fields.first(where: { $0.hasPrefix("avg10=") }) else { continue }
            let digits = field.dropFirst("avg10=".count)
            // `Double` also accepts signs, exponents, hexadecimal digits and names of special values.
            guard digits.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || $0.isDigit }),
                let number = Double(digits)
            else { continue }
            return UInt8(min(number, 100))
        }
        return nil
    }
}
