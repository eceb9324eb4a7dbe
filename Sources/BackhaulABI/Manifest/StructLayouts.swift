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
                ("shares_control_group", \.shares_control_group), ("connections", \.connections),
            ]),
        StructLayout(
            "bh_limits", bh_limits.self,
            fields: [
                ("struct_size", \.struct_size), ("bytes_per_second", \.bytes_per_second),
                ("maximum_running_tasks", \.maximum_running_tasks), ("maximum_connections", \.maximum_connections),
                ("connections_per_origin", \.connections_per_origin),
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
            "bh_header", bh_header.self,
            fields: [
                ("name", \.name), ("value", \.value),
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
                ("retry_jitter_percent", \.retry_jitter_percent), ("retry_errors", \.retry_errors),
                ("retries_unsafe_methods", \.retries_unsafe_methods), ("retry_statuses", \.retry_statuses),
                ("accepted_statuses", \.accepted_statuses), ("http_version", \.http_version),
                ("redirects", \.redirects), ("maximum_redirects", \.maximum_redirects),
                ("maximum_size", \.maximum_size), ("headers", \.headers), ("header_count", \.header_count),
                ("bytes_per_second", \.bytes_per_second), ("proxy", \.proxy), ("proxy_user", \.proxy_user),
                ("proxy_password", \.proxy_password), ("no_proxy", \.no_proxy), ("cookies", \.cookies),
                ("minimum_tls", \.minimum_tls), ("client_certificate", \.client_certificate),
                ("client_key", \.client_key), ("pinned_public_keys", \.pinned_public_keys),
                ("history_limit", \.history_limit), ("preset", \.preset),
                ("requires_external_power", \.requires_external_power), ("requires_unmetered", \.requires_unmetered),
                ("networks", \.networks), ("minimum_battery_percent", \.minimum_battery_percent),
                ("maximum_thermal_state", \.maximum_thermal_state),
                ("maximum_cpu_pressure_percent", \.maximum_cpu_pressure_percent),
                ("maximum_io_pressure_percent", \.maximum_io_pressure_percent),
                ("maximum_memory_pressure_percent", \.maximum_memory_pressure_percent),
                ("minimum_bytes_per_second", \.minimum_bytes_per_second), ("quiet_hours", \.quiet_hours),
                ("slow_after_ms", \.slow_after_ms), ("slow_pause_ms", \.slow_pause_ms),
                ("discretionary_if_launched", \.discretionary_if_launched), ("tolerances", \.tolerances),
                ("daily_budget", \.daily_budget), ("monthly_budget", \.monthly_budget),
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
            "bh_part", bh_part.self,
            fields: [
                ("name", \.name), ("file", \.file), ("value", \.value), ("value_size", \.value_size),
                ("file_name", \.file_name), ("media_type", \.media_type),
            ]),
        StructLayout(
            "bh_policy", bh_policy.self,
            fields: [
                ("struct_size", \.struct_size), ("maximum_attempts", \.maximum_attempts),
                ("first_retry_delay_ms", \.first_retry_delay_ms), ("longest_retry_delay_ms", \.longest_retry_delay_ms),
                ("retry_jitter_percent", \.retry_jitter_percent), ("retry_errors", \.retry_errors),
                ("retries_unsafe_methods", \.retries_unsafe_methods), ("retry_statuses", \.retry_statuses),
                ("accepted_statuses", \.accepted_statuses), ("request_timeout_ms", \.request_timeout_ms),
                ("http_version", \.http_version), ("resource_timeout_ms", \.resource_timeout_ms),
                ("redirects", \.redirects), ("maximum_redirects", \.maximum_redirects),
                ("maximum_size", \.maximum_size), ("bytes_per_second", \.bytes_per_second), ("preset", \.preset),
                ("requires_external_power", \.requires_external_power), ("requires_unmetered", \.requires_unmetered),
                ("networks", \.networks), ("minimum_battery_percent", \.minimum_battery_percent),
                ("maximum_thermal_state", \.maximum_thermal_state),
                ("maximum_cpu_pressure_percent", \.maximum_cpu_pressure_percent),
                ("maximum_io_pressure_percent", \.maximum_io_pressure_percent),
                ("maximum_memory_pressure_percent", \.maximum_memory_pressure_percent),
                ("minimum_bytes_per_second", \.minimum_bytes_per_second), ("quiet_hours", \.quiet_hours),
            ]),
        StructLayout(
            "bh_request", bh_request.self,
            fields: [
                ("struct_size", \.struct_size), ("url", \.url), ("destination", \.destination),
                ("idempotency_key", \.idempotency_key), ("headers", \.headers), ("header_count", \.header_count),
                ("user_data", \.user_data), ("user_data_size", \.user_data_size), ("if_exists", \.if_exists),
                ("priority", \.priority), ("flags", \.flags), ("mode", \.mode), ("method", \.method),
                ("group", \.group), ("checksum", \.checksum), ("expected_size", \.expected_size),
                ("body_file", \.body_file), ("body", \.body), ("body_size", \.body_size), ("parts", \.parts),
                ("part_count", \.part_count), ("body_source", \.body_source), ("refresh", \.refresh),
                ("expires_ms", \.expires_ms), ("policy", \.policy), ("earliest_start_ms", \.earliest_start_ms),
                ("latest_start_ms", \.latest_start_ms), ("expected_bytes_received", \.expected_bytes_received),
                ("expected_bytes_sent", \.expected_bytes_sent),
            ]),
        StructLayout(
            "bh_enqueued", bh_enqueued.self,
            fields: [
                ("task_id", \.task_id), ("disposition", \.disposition), ("status", \.status),
            ]),
        StructLayout(
            "bh_existing_task", bh_existing_task.self,
            fields: [
                ("struct_size", \.struct_size), ("request", \.request), ("task_id", \.task_id),
                ("event_id", \.event_id), ("state", \.state), ("reserved", \.reserved),
            ]),
        StructLayout(
            "bh_challenge", bh_challenge.self,
            fields: [
                ("struct_size", \.struct_size), ("id", \.id), ("kind", \.kind), ("schemes", \.schemes),
                ("origin", \.origin), ("realm", \.realm), ("failures", \.failures), ("time_ms", \.time_ms),
                ("waiting_tasks", \.waiting_tasks), ("task_id", \.task_id), ("url", \.url),
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
                ("group", \.group), ("group_succeeded", \.group_succeeded), ("group_failed", \.group_failed),
                ("group_cancelled", \.group_cancelled), ("checksum", \.checksum), ("bytes_sent", \.bytes_sent),
                ("response_body", \.response_body), ("response_body_size", \.response_body_size),
                ("task_kind", \.task_kind), ("reserved", \.reserved), ("activity", \.activity),
            ]),
        StructLayout(
            "bh_response", bh_response.self,
            fields: [
                ("struct_size", \.struct_size), ("kind", \.kind), ("user", \.user), ("password", \.password),
                ("headers", \.headers), ("header_count", \.header_count), ("url", \.url), ("expires_ms", \.expires_ms),
                ("flags", \.flags),
            ]),
        StructLayout(
            "bh_progress", bh_progress.self,
            fields: [
                ("struct_size", \.struct_size), ("task_id", \.task_id), ("state", \.state), ("reason", \.reason),
                ("offset", \.offset), ("size", \.size), ("bytes_per_second", \.bytes_per_second),
                ("body_sent", \.body_sent), ("body_size", \.body_size),
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
                ("bytes_per_second", \.bytes_per_second), ("enqueued_ms", \.enqueued_ms), ("kind", \.kind),
                ("reserved", \.reserved), ("group", \.group), ("body_sent", \.body_sent), ("body_size", \.body_size),
                ("ended_ms", \.ended_ms), ("path", \.path), ("earliest_start_ms", \.earliest_start_ms),
                ("latest_start_ms", \.latest_start_ms), ("expected_bytes_received", \.expected_bytes_received),
                ("expected_bytes_sent", \.expected_bytes_sent), ("constraints", \.constraints),
            ]),
        StructLayout(
            "bh_task_selection", bh_task_selection.self,
            fields: [
                ("struct_size", \.struct_size), ("ids", \.ids), ("id_count", \.id_count), ("states", \.states),
                ("group", \.group),
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
                ("response_end_us", \.response_end_us), ("protocol", \.`protocol`),
                ("reused_connection", \.reused_connection), ("proxy_connection", \.proxy_connection),
                ("local_address", \.local_address), ("remote_address", \.remote_address), ("local_port", \.local_port),
                ("remote_port", \.remote_port), ("reserved", \.reserved), ("tls_version", \.tls_version),
                ("tls_cipher", \.tls_cipher), ("request_header_bytes", \.request_header_bytes),
                ("request_body_bytes", \.request_body_bytes), ("response_header_bytes", \.response_header_bytes),
                ("response_body_bytes", \.response_body_bytes),
            ]),
        StructLayout(
            "bh_wait", bh_wait.self,
            fields: [
                ("struct_size", \.struct_size), ("reason", \.reason), ("reserved", \.reserved),
                ("reason_text", \.reason_text), ("began_ms", \.began_ms), ("ended_ms", \.ended_ms),
            ]),
        StructLayout(
            "bh_condition", bh_condition.self,
            fields: [
                ("struct_size", \.struct_size), ("kind", \.kind), ("is_known", \.is_known), ("value", \.value),
                ("name", \.name), ("text", \.text), ("source", \.source), ("since_ms", \.since_ms),
            ]),
        StructLayout(
            "bh_hold", bh_hold.self,
            fields: [
                ("struct_size", \.struct_size), ("application", \.application), ("session", \.session),
                ("origin", \.origin), ("reason", \.reason), ("reserved", \.reserved), ("reason_text", \.reason_text),
                ("began_ms", \.began_ms), ("next_look_ms", \.next_look_ms), ("tasks", \.tasks),
            ]),
        StructLayout(
            "bh_network", bh_network.self,
            fields: [
                ("struct_size", \.struct_size), ("name", \.name), ("metered", \.metered),
                ("month_starts_on", \.month_starts_on), ("daily_budget", \.daily_budget),
                ("monthly_budget", \.monthly_budget), ("kind", \.kind), ("is_current", \.is_current),
                ("used_today", \.used_today), ("used_this_month", \.used_this_month), ("day_ends_ms", \.day_ends_ms),
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
