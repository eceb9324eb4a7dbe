internal import CBackhaul

/// A constant with a name as text. The command line and the Python package have the same names.
public protocol NamedConstant {
    /// The name in small letters, such as "running" for `TaskState.running`.
    var name: String { get }
}

extension RawRepresentable where RawValue: BinaryInteger {
    fileprivate func name(_ type: String) -> String { constantName(type, Int64(rawValue)) }
}

extension OptionSet where RawValue: FixedWidthInteger {
    /// The names of all members, such as "ethernet|wifi". "none" if the set is empty.
    fileprivate func names(_ type: String) -> String {
        let bits = (0..<RawValue.bitWidth).map { RawValue(1) << $0 }.filter { rawValue & $0 != 0 }
        return (bits.isEmpty ? [0] : bits).map { constantName(type, Int64($0)) }.joined(separator: "|")
    }
}

private func constantName(_ type: String, _ value: Int64) -> String { String(cString: bh_name(type, value)) }

extension Activity.QualityOfService: NamedConstant { public var name: String { name("bh_quality_of_service") } }
extension BackhaulError.Domain: NamedConstant { public var name: String { name("bh_domain") } }
extension Body.Source: NamedConstant { public var name: String { name("bh_body_source") } }
extension Challenge.Kind: NamedConstant { public var name: String { name("bh_challenge_kind") } }
extension Condition.Connectivity: NamedConstant { public var name: String { name("bh_connectivity") } }
extension Condition.Kind: NamedConstant { public var name: String { name("bh_condition_kind") } }
extension CookiePolicy: NamedConstant { public var name: String { name("bh_cookies") } }
extension HTTPVersion: NamedConstant { public var name: String { name("bh_http_version") } }
extension Hosting: NamedConstant { public var name: String { name("bh_hosting") } }
extension LaunchState: NamedConstant { public var name: String { name("bh_launch_state") } }
extension Preset: NamedConstant { public var name: String { name("bh_preset") } }
extension RedirectPolicy: NamedConstant { public var name: String { name("bh_redirects") } }
extension Refresh: NamedConstant { public var name: String { name("bh_refresh") } }
extension ResumableUploads: NamedConstant { public var name: String { name("bh_resumable_uploads") } }
extension TLSVersion: NamedConstant { public var name: String { name("bh_tls_version") } }
extension TaskKind: NamedConstant { public var name: String { name("bh_task_kind") } }
extension TaskState: NamedConstant { public var name: String { name("bh_task_state") } }
extension ThermalState: NamedConstant { public var name: String { name("bh_thermal_state") } }
extension WaitingReason.Code: NamedConstant { public var name: String { name("bh_reason") } }

extension Challenge.Schemes: CustomStringConvertible { public var description: String { names("bh_schemes") } }
extension NetworkKinds: CustomStringConvertible { public var description: String { names("bh_network_kinds") } }
extension RetryErrors: CustomStringConvertible { public var description: String { names("bh_retry_errors") } }
extension Tolerances: CustomStringConvertible { public var description: String { names("bh_tolerances") } }
