internal import CBackhaul

/// Size and field offsets of a C struct, as this library was compiled.
struct StructLayout {
    let name: String
    let size: Int
    let fields: [(name: String, offset: Int)]

    init<Struct>(_ name: String, _ type: Struct.Type, fields: [(name: String, path: PartialKeyPath<Struct>)]) {
        self.name = name
        size = MemoryLayout<Struct>.size
        // Stored fields of imported structs have an offset. A test compares the whole list with what a C compiler says.
        self.fields = fields.compactMap { name, path in
            MemoryLayout<Struct>.offset(of: path).map { (name: name, offset: $0) }
        }
    }

    /// All structs of include/backhaul.h with all their fields.
    static let all = [
        StructLayout(
            "bh_error", bh_error.self,
            fields: [
                ("struct_size", \.struct_size), ("status", \.status), ("domain", \.domain), ("detail", \.detail),
                ("index", \.index), ("ticket", \.ticket), ("message", \.message),
            ]),
        StructLayout(
            "bh_launch_command", bh_launch_command.self,
            fields: [
                ("struct_size", \.struct_size), ("program", \.program), ("arguments", \.arguments),
                ("argument_count", \.argument_count), ("environment", \.environment),
                ("environment_count", \.environment_count), ("working_directory", \.working_directory),
                ("attach_timeout_ms", \.attach_timeout_ms), ("first_delay_ms", \.first_delay_ms),
                ("longest_delay_ms", \.longest_delay_ms), ("maximum_launches", \.maximum_launches),
            ]),
        StructLayout(
            "bh_application_options", bh_application_options.self,
            fields: [
                ("struct_size", \.struct_size), ("identifier", \.identifier), ("store", \.store),
                ("hosting", \.hosting), ("flags", \.flags), ("daemon", \.daemon), ("launch", \.launch),
            ]),
        StructLayout(
            "bh_engine_info", bh_engine_info.self,
            fields: [
                ("struct_size", \.struct_size), ("process_id", \.process_id), ("version", \.version),
                ("hosting", \.hosting), ("started_ms", \.started_ms), ("store", \.store),
                ("shares_control_group", \.shares_control_group), ("connections", \.connections),
            ]),
        StructLayout(
            "bh_launch_info", bh_launch_info.self,
            fields: [
                ("struct_size", \.struct_size), ("application", \.application), ("program", \.program),
                ("arguments", \.arguments), ("argument_count", \.argument_count), ("environment", \.environment),
                ("environment_count", \.environment_count), ("working_directory", \.working_directory),
                ("state", \.state), ("launches", \.launches), ("next_launch_ms", \.next_launch_ms),
                ("process_id", \.process_id), ("started_ms", \.started_ms), ("error_message", \.error_message),
            ]),
        StructLayout(
            "bh_session_configuration", bh_session_configuration.self,
            fields: [
                ("struct_size", \.struct_size), ("identifier", \.identifier),
                ("connections_per_origin", \.connections_per_origin),
                ("maximum_running_tasks", \.maximum_running_tasks), ("maximum_attempts", \.maximum_attempts),
                ("first_retry_delay_ms", \.first_retry_delay_ms), ("longest_retry_delay_ms", \.longest_retry_delay_ms),
                ("request_timeout_ms", \.request_timeout_ms), ("resource_timeout_ms", \.resource_timeout_ms),
                ("ca_file", \.ca_file), ("sends_launch_events", \.sends_launch_events),
                ("asks_for_credentials", \.asks_for_credentials), ("launch_if_stopped_ms", \.launch_if_stopped_ms),
            ]),
        StructLayout(
            "bh_session_info", bh_session_info.self,
            fields: [
                ("struct_size", \.struct_size), ("identifier", \.identifier), ("round", \.round),
                ("live_tasks", \.live_tasks), ("events", \.events), ("attention", \.attention),
                ("invalidating", \.invalidating), ("consumer", \.consumer), ("created_ms", \.created_ms),
                ("open_challenges", \.open_challenges), ("consumer_stopped_ms", \.consumer_stopped_ms),
                ("waiting_consumers", \.waiting_consumers), ("launch_state", \.launch_state),
                ("next_launch_ms", \.next_launch_ms),
            ]),
        StructLayout(
            "bh_launch", bh_launch.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("launches", \.launches), ("reasons", \.reasons),
                ("sessions", \.sessions), ("session_count", \.session_count),
            ]),
        StructLayout(
            "bh_header", bh_header.self,
            fields: [
                ("name", \.name), ("value", \.value),
            ]),
        StructLayout(
            "bh_request", bh_request.self,
            fields: [
                ("struct_size", \.struct_size), ("url", \.url), ("destination", \.destination),
                ("idempotency_key", \.idempotency_key), ("headers", \.headers), ("header_count", \.header_count),
                ("user_data", \.user_data), ("user_data_size", \.user_data_size), ("if_exists", \.if_exists),
                ("priority", \.priority), ("flags", \.flags), ("mode", \.mode),
            ]),
        StructLayout(
            "bh_enqueued", bh_enqueued.self,
            fields: [
                ("task_id", \.task_id), ("disposition", \.disposition), ("status", \.status),
            ]),
        StructLayout(
            "bh_challenge", bh_challenge.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("kind", \.kind), ("schemes", \.schemes),
                ("origin", \.origin), ("realm", \.realm), ("failures", \.failures), ("time_ms", \.time_ms),
                ("waiting_tasks", \.waiting_tasks),
            ]),
        StructLayout(
            "bh_event", bh_event.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("task_id", \.task_id), ("round", \.round),
                ("time_ms", \.time_ms), ("kind", \.kind), ("task_state", \.task_state), ("status", \.status),
                ("error_domain", \.error_domain), ("error_detail", \.error_detail), ("error_message", \.error_message),
                ("url", \.url), ("final_url", \.final_url), ("path", \.path), ("media_type", \.media_type),
                ("idempotency_key", \.idempotency_key), ("http_status", \.http_status), ("attempts", \.attempts),
                ("size", \.size), ("bytes_received", \.bytes_received), ("user_data", \.user_data),
                ("user_data_size", \.user_data_size), ("headers", \.headers), ("header_count", \.header_count),
                ("error_body", \.error_body), ("error_body_size", \.error_body_size), ("challenge", \.challenge),
            ]),
        StructLayout(
            "bh_response", bh_response.self,
            fields: [
                ("struct_size", \.struct_size), ("kind", \.kind), ("user", \.user), ("password", \.password),
                ("headers", \.headers), ("header_count", \.header_count),
            ]),
        StructLayout(
            "bh_progress", bh_progress.self,
            fields: [
                ("struct_size", \.struct_size), ("task_id", \.task_id), ("state", \.state), ("reason", \.reason),
                ("offset", \.offset), ("size", \.size), ("bytes_per_second", \.bytes_per_second),
            ]),
        StructLayout(
            "bh_task", bh_task.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("round", \.round), ("state", \.state),
                ("reason", \.reason), ("reason_text", \.reason_text), ("next_attempt_ms", \.next_attempt_ms),
                ("url", \.url), ("destination", \.destination), ("idempotency_key", \.idempotency_key),
                ("user_data", \.user_data), ("user_data_size", \.user_data_size), ("priority", \.priority),
                ("status", \.status), ("error_message", \.error_message), ("http_status", \.http_status),
                ("attempts", \.attempts), ("offset", \.offset), ("size", \.size),
                ("bytes_per_second", \.bytes_per_second), ("enqueued_ms", \.enqueued_ms),
            ]),
        StructLayout(
            "bh_task_selection", bh_task_selection.self,
            fields: [
                ("struct_size", \.struct_size), ("ids", \.ids), ("id_count", \.id_count), ("states", \.states),
            ]),
    ]
}
