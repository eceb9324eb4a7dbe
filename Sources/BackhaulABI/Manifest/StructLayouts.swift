// Generated from include/backhaul.h by scripts/generate-bindings; change the header, then run it.
internal import CBackhaul

extension StructLayout {
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
                ("connections", \.connections), ("shares_control_group", \.shares_control_group),
                ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_limits", bh_limits.self,
            fields: [
                ("struct_size", \.struct_size), ("bytes_per_second", \.bytes_per_second),
                ("maximum_running_tasks", \.maximum_running_tasks), ("maximum_connections", \.maximum_connections),
                ("connections_per_origin", \.connections_per_origin), ("reserved", \.reserved),
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
            "bh_retry_policy", bh_retry_policy.self,
            fields: [
                ("maximum_attempts", \.maximum_attempts), ("first_delay_ms", \.first_delay_ms),
                ("longest_delay_ms", \.longest_delay_ms), ("jitter_percent", \.jitter_percent), ("errors", \.errors),
                ("unsafe_methods", \.unsafe_methods), ("statuses", \.statuses), ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_transfer_rules", bh_transfer_rules.self,
            fields: [
                ("request_timeout_ms", \.request_timeout_ms), ("http_version", \.http_version),
                ("resource_timeout_ms", \.resource_timeout_ms), ("redirects", \.redirects),
                ("maximum_redirects", \.maximum_redirects), ("accepted_statuses", \.accepted_statuses),
                ("maximum_size", \.maximum_size), ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_constraints", bh_constraints.self,
            fields: [
                ("preset", \.preset), ("requires_external_power", \.requires_external_power),
                ("requires_unmetered", \.requires_unmetered), ("networks", \.networks),
                ("minimum_battery_percent", \.minimum_battery_percent),
                ("maximum_thermal_state", \.maximum_thermal_state),
                ("maximum_cpu_pressure_percent", \.maximum_cpu_pressure_percent),
                ("maximum_io_pressure_percent", \.maximum_io_pressure_percent),
                ("maximum_memory_pressure_percent", \.maximum_memory_pressure_percent),
                ("reserved_number", \.reserved_number), ("minimum_bytes_per_second", \.minimum_bytes_per_second),
                ("quiet_hours", \.quiet_hours), ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_tls_settings", bh_tls_settings.self,
            fields: [
                ("ca_file", \.ca_file), ("client_certificate", \.client_certificate), ("client_key", \.client_key),
                ("pinned_public_keys", \.pinned_public_keys), ("minimum_version", \.minimum_version),
                ("reserved_number", \.reserved_number), ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_proxy_settings", bh_proxy_settings.self,
            fields: [
                ("url", \.url), ("user", \.user), ("password", \.password), ("bypass", \.bypass),
                ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_budget", bh_budget.self,
            fields: [
                ("daily", \.daily), ("monthly", \.monthly),
            ]),
        StructLayout(
            "bh_header", bh_header.self,
            fields: [
                ("name", \.name), ("value", \.value),
            ]),
        StructLayout(
            "bh_policy", bh_policy.self,
            fields: [
                ("struct_size", \.struct_size), ("retry", \.retry), ("rules", \.rules), ("constraints", \.constraints),
                ("bytes_per_second", \.bytes_per_second),
            ]),
        StructLayout(
            "bh_session_configuration", bh_session_configuration.self,
            fields: [
                ("struct_size", \.struct_size), ("identifier", \.identifier), ("retry", \.retry), ("rules", \.rules),
                ("constraints", \.constraints), ("tls", \.tls), ("proxy", \.proxy), ("budget", \.budget),
                ("bytes_per_second", \.bytes_per_second), ("headers", \.headers), ("header_count", \.header_count),
                ("connections_per_origin", \.connections_per_origin),
                ("maximum_running_tasks", \.maximum_running_tasks), ("history_limit", \.history_limit),
                ("cookies", \.cookies), ("tolerances", \.tolerances), ("sends_launch_events", \.sends_launch_events),
                ("asks_for_credentials", \.asks_for_credentials),
                ("discretionary_if_launched", \.discretionary_if_launched),
                ("launch_if_stopped_ms", \.launch_if_stopped_ms), ("slow_after_ms", \.slow_after_ms),
                ("slow_pause_ms", \.slow_pause_ms), ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_session_info", bh_session_info.self,
            fields: [
                ("struct_size", \.struct_size), ("identifier", \.identifier), ("round", \.round),
                ("live_tasks", \.live_tasks), ("events", \.events), ("open_challenges", \.open_challenges),
                ("created_ms", \.created_ms), ("consumer", \.consumer), ("consumer_stopped_ms", \.consumer_stopped_ms),
                ("next_launch_ms", \.next_launch_ms), ("attention", \.attention), ("launch_state", \.launch_state),
                ("waiting_consumers", \.waiting_consumers), ("is_invalidated", \.is_invalidated),
                ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_launch", bh_launch.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("launches", \.launches), ("attention", \.attention),
                ("sessions", \.sessions), ("session_count", \.session_count),
            ]),
        StructLayout(
            "bh_part", bh_part.self,
            fields: [
                ("struct_size", \.struct_size), ("name", \.name), ("file", \.file), ("value", \.value),
                ("value_size", \.value_size), ("file_name", \.file_name), ("media_type", \.media_type),
            ]),
        StructLayout(
            "bh_request", bh_request.self,
            fields: [
                ("struct_size", \.struct_size), ("url", \.url), ("destination", \.destination),
                ("idempotency_key", \.idempotency_key), ("headers", \.headers), ("header_count", \.header_count),
                ("user_data", \.user_data), ("user_data_size", \.user_data_size), ("method", \.method),
                ("group", \.group), ("checksum", \.checksum), ("expected_size", \.expected_size),
                ("body_file", \.body_file), ("body", \.body), ("body_size", \.body_size), ("parts", \.parts),
                ("part_count", \.part_count), ("policy", \.policy), ("expires_ms", \.expires_ms),
                ("earliest_start_ms", \.earliest_start_ms), ("latest_start_ms", \.latest_start_ms),
                ("expected_bytes_received", \.expected_bytes_received), ("expected_bytes_sent", \.expected_bytes_sent),
                ("flags", \.flags), ("if_exists", \.if_exists), ("body_source", \.body_source), ("refresh", \.refresh),
                ("priority", \.priority), ("mode", \.mode),
            ]),
        StructLayout(
            "bh_enqueued", bh_enqueued.self,
            fields: [
                ("struct_size", \.struct_size), ("request", \.request), ("task_id", \.task_id),
                ("event_id", \.event_id), ("disposition", \.disposition), ("task_state", \.task_state),
            ]),
        StructLayout(
            "bh_challenge", bh_challenge.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("kind", \.kind), ("schemes", \.schemes),
                ("origin", \.origin), ("realm", \.realm), ("url", \.url), ("task_id", \.task_id),
                ("waiting_tasks", \.waiting_tasks), ("time_ms", \.time_ms), ("failures", \.failures),
                ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_event", bh_event.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("time_ms", \.time_ms), ("round", \.round),
                ("task_id", \.task_id), ("kind", \.kind), ("task_kind", \.task_kind), ("task_state", \.task_state),
                ("status", \.status), ("error_domain", \.error_domain), ("http_status", \.http_status),
                ("error_detail", \.error_detail), ("error_message", \.error_message), ("url", \.url),
                ("final_url", \.final_url), ("path", \.path), ("media_type", \.media_type), ("checksum", \.checksum),
                ("idempotency_key", \.idempotency_key), ("user_data", \.user_data),
                ("user_data_size", \.user_data_size), ("size", \.size), ("bytes_received", \.bytes_received),
                ("bytes_sent", \.bytes_sent), ("headers", \.headers), ("header_count", \.header_count),
                ("error_body", \.error_body), ("error_body_size", \.error_body_size),
                ("response_body", \.response_body), ("response_body_size", \.response_body_size),
                ("attempts", \.attempts), ("reserved", \.reserved), ("challenge", \.challenge), ("group", \.group),
                ("group_succeeded", \.group_succeeded), ("group_failed", \.group_failed),
                ("group_cancelled", \.group_cancelled), ("activity", \.activity),
            ]),
        StructLayout(
            "bh_challenge_response", bh_challenge_response.self,
            fields: [
                ("struct_size", \.struct_size), ("kind", \.kind), ("flags", \.flags), ("user", \.user),
                ("password", \.password), ("headers", \.headers), ("header_count", \.header_count), ("url", \.url),
                ("expires_ms", \.expires_ms),
            ]),
        StructLayout(
            "bh_task_info", bh_task_info.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("round", \.round), ("kind", \.kind), ("state", \.state),
                ("reason", \.reason), ("status", \.status), ("reason_text", \.reason_text),
                ("error_message", \.error_message), ("next_attempt_ms", \.next_attempt_ms), ("url", \.url),
                ("destination", \.destination), ("path", \.path), ("idempotency_key", \.idempotency_key),
                ("group", \.group), ("user_data", \.user_data), ("user_data_size", \.user_data_size),
                ("priority", \.priority), ("http_status", \.http_status), ("attempts", \.attempts),
                ("reserved", \.reserved), ("offset", \.offset), ("size", \.size), ("body_sent", \.body_sent),
                ("body_size", \.body_size), ("bytes_per_second", \.bytes_per_second), ("enqueued_ms", \.enqueued_ms),
                ("ended_ms", \.ended_ms), ("earliest_start_ms", \.earliest_start_ms),
                ("latest_start_ms", \.latest_start_ms), ("expected_bytes_received", \.expected_bytes_received),
                ("expected_bytes_sent", \.expected_bytes_sent), ("constraints", \.constraints),
            ]),
        StructLayout(
            "bh_task_selection", bh_task_selection.self,
            fields: [
                ("struct_size", \.struct_size), ("ids", \.ids), ("id_count", \.id_count), ("group", \.group),
                ("states", \.states), ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_attempt", bh_attempt.self,
            fields: [
                ("struct_size", \.struct_size), ("task_id", \.task_id), ("number", \.number), ("next", \.next),
                ("started_ms", \.started_ms), ("next_attempt_ms", \.next_attempt_ms), ("status", \.status),
                ("error_domain", \.error_domain), ("error_detail", \.error_detail), ("error_message", \.error_message),
                ("url", \.url), ("http_status", \.http_status), ("redirects", \.redirects), ("offset", \.offset),
                ("end_offset", \.end_offset), ("domain_lookup_us", \.domain_lookup_us), ("connect_us", \.connect_us),
                ("secure_connection_us", \.secure_connection_us), ("request_start_us", \.request_start_us),
                ("request_end_us", \.request_end_us), ("response_start_us", \.response_start_us),
                ("response_end_us", \.response_end_us), ("protocol", \.`protocol`), ("local_address", \.local_address),
                ("remote_address", \.remote_address), ("tls_version", \.tls_version), ("tls_cipher", \.tls_cipher),
                ("request_header_bytes", \.request_header_bytes), ("request_body_bytes", \.request_body_bytes),
                ("response_header_bytes", \.response_header_bytes), ("response_body_bytes", \.response_body_bytes),
                ("local_port", \.local_port), ("remote_port", \.remote_port),
                ("reused_connection", \.reused_connection), ("proxy_connection", \.proxy_connection),
                ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_wait_record", bh_wait_record.self,
            fields: [
                ("struct_size", \.struct_size), ("reason", \.reason), ("reserved", \.reserved),
                ("reason_text", \.reason_text), ("began_ms", \.began_ms), ("ended_ms", \.ended_ms),
            ]),
        StructLayout(
            "bh_progress", bh_progress.self,
            fields: [
                ("struct_size", \.struct_size), ("task_id", \.task_id), ("state", \.state), ("reason", \.reason),
                ("offset", \.offset), ("size", \.size), ("bytes_per_second", \.bytes_per_second),
                ("body_sent", \.body_sent), ("body_size", \.body_size),
            ]),
        StructLayout(
            "bh_condition", bh_condition.self,
            fields: [
                ("struct_size", \.struct_size), ("kind", \.kind), ("is_known", \.is_known), ("reserved", \.reserved),
                ("value", \.value), ("name", \.name), ("text", \.text), ("source", \.source), ("since_ms", \.since_ms),
            ]),
        StructLayout(
            "bh_hold", bh_hold.self,
            fields: [
                ("struct_size", \.struct_size), ("application", \.application), ("session", \.session),
                ("origin", \.origin), ("reason_text", \.reason_text), ("reason", \.reason), ("reserved", \.reserved),
                ("began_ms", \.began_ms), ("next_check_ms", \.next_check_ms), ("tasks", \.tasks),
            ]),
        StructLayout(
            "bh_network", bh_network.self,
            fields: [
                ("struct_size", \.struct_size), ("name", \.name), ("metered", \.metered),
                ("month_starts_on", \.month_starts_on), ("budget", \.budget), ("kind", \.kind),
                ("is_current", \.is_current), ("reserved", \.reserved), ("used_today", \.used_today),
                ("used_this_month", \.used_this_month), ("day_ends_ms", \.day_ends_ms),
                ("month_ends_ms", \.month_ends_ms),
            ]),
        StructLayout(
            "bh_activity", bh_activity.self,
            fields: [
                ("struct_size", \.struct_size), ("identifier", \.identifier), ("interval_ms", \.interval_ms),
                ("tolerance_ms", \.tolerance_ms), ("repeats", \.repeats), ("quality_of_service", \.quality_of_service),
                ("request", \.request), ("first_ms", \.first_ms), ("next_ms", \.next_ms),
                ("next_ends_ms", \.next_ends_ms), ("last_started_ms", \.last_started_ms), ("last_task", \.last_task),
                ("url", \.url),
            ]),
    ]
}
