internal import CBackhaul

/// A C struct that can be an item of a batch, which is a list that a call returns. `itemKind`: the constant
/// `BH_ITEM_…` of the struct.
protocol BatchItem {
    static var itemKind: Int32 { get }
}

extension bh_event: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_EVENT) } }
extension bh_task_info: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_TASK) } }
extension bh_session_info: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_SESSION) } }
extension bh_session_configuration: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_CONFIGURATION) } }
extension bh_challenge: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_CHALLENGE) } }
extension bh_progress: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_PROGRESS) } }
extension bh_launch: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_LAUNCH) } }
extension bh_launch_info: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_LAUNCH_INFO) } }
extension bh_engine_info: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_ENGINE) } }
extension bh_attempt: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_ATTEMPT) } }
extension bh_limits: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_LIMITS) } }
extension bh_wait_record: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_WAIT) } }
extension bh_condition: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_CONDITION) } }
extension bh_hold: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_HOLD) } }
extension bh_network: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_NETWORK) } }
extension bh_activity: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_ACTIVITY) } }
extension bh_metrics: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_METRICS) } }
extension bh_application_info: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_APPLICATION) } }
extension bh_enqueued: BatchItem { static var itemKind: Int32 { Int32(BH_ITEM_ENQUEUED) } }
