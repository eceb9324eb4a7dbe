// Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
#include "runtime.h"

static void fill_bh_launch_command(struct choices *choices, bh_launch_command *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) value->program = choose_text(choices);
    if (choose(choices, 3) == 1) { size_t length = choose(choices, 4);
        const char **list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = choose_text(choices);
        value->arguments = (const char *const *)list; value->argument_count = list ? length : 0; }
    if (choose(choices, 3) == 1) { size_t length = choose(choices, 4);
        const char **list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = choose_text(choices);
        value->environment = (const char *const *)list; value->environment_count = list ? length : 0; }
    if (choose(choices, 4) == 1) value->working_directory = choose_text(choices);
    if (choose(choices, 4) == 1) value->attach_timeout_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->first_delay_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->longest_delay_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_launches = (uint32_t)choose_number(choices);
}

static void fill_bh_application_options(struct choices *choices, bh_application_options *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = sizeof *value;
    if (choose(choices, 4) == 1) value->identifier = choose_text(choices);
    value->store = choices->store;
    value->hosting = BH_HOSTING_EMBEDDED;
    if (choose(choices, 4) == 1) value->flags = (bh_application_flags)choose_number(choices);
    value->daemon = NULL;
    if (choose(choices, 4) == 1) {
        bh_launch_command *part = take_memory(choices, sizeof *part);
        if (part) fill_bh_launch_command(choices, part);
        value->launch = part;
    }
}

static void fill_bh_limits(struct choices *choices, bh_limits *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) value->bytes_per_second = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_running_tasks = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_connections = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->connections_per_origin = (uint32_t)choose_number(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
}

static void fill_bh_retry_policy(struct choices *choices, bh_retry_policy *value) {
    memset(value, 0, sizeof *value);
    if (choose(choices, 4) == 1) value->maximum_attempts = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->first_delay_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->longest_delay_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->jitter_percent = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->errors = (bh_retry_errors)choose_number(choices);
    if (choose(choices, 4) == 1) value->unsafe_methods = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->statuses = choose_text(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
}

static void fill_bh_transfer_rules(struct choices *choices, bh_transfer_rules *value) {
    memset(value, 0, sizeof *value);
    if (choose(choices, 4) == 1) value->request_timeout_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->http_version = (bh_http_version)choose_number(choices);
    if (choose(choices, 4) == 1) value->resource_timeout_ms = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->redirects = (bh_redirects)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_redirects = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->accepted_statuses = choose_text(choices);
    if (choose(choices, 4) == 1) value->maximum_size = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->accepted_types = choose_text(choices);
    if (choose(choices, 4) == 1) value->refuses_private_addresses = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->resumable_uploads = (bh_resumable_uploads)choose_number(choices);
    if (choose(choices, 4) == 1) value->s3_endpoint = choose_text(choices);
    if (choose(choices, 4) == 1) value->s3_region = choose_text(choices);
    if (choose(choices, 4) == 1) value->s3_profile = choose_text(choices);
    if (choose(choices, 4) == 1) value->s3_credential_command = choose_text(choices);
    if (choose(choices, 4) == 1) value->s3_path_style = (bh_choice)choose_number(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved_number, 1, sizeof value->reserved_number);
}

static void fill_bh_constraints(struct choices *choices, bh_constraints *value) {
    memset(value, 0, sizeof *value);
    if (choose(choices, 4) == 1) value->preset = (bh_preset)choose_number(choices);
    if (choose(choices, 4) == 1) value->requires_external_power = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->requires_unmetered = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->networks = (bh_network_kinds)choose_number(choices);
    if (choose(choices, 4) == 1) value->minimum_battery_percent = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_thermal_state = (bh_thermal_state)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_cpu_pressure_percent = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_io_pressure_percent = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_memory_pressure_percent = (uint32_t)choose_number(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved_number, 1, sizeof value->reserved_number);
    if (choose(choices, 4) == 1) value->minimum_bytes_per_second = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->quiet_hours = choose_text(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
}

static void fill_bh_tls_settings(struct choices *choices, bh_tls_settings *value) {
    memset(value, 0, sizeof *value);
    if (choose(choices, 4) == 1) value->ca_file = choose_text(choices);
    if (choose(choices, 4) == 1) value->client_certificate = choose_text(choices);
    if (choose(choices, 4) == 1) value->client_key = choose_text(choices);
    if (choose(choices, 4) == 1) value->pinned_public_keys = choose_text(choices);
    if (choose(choices, 4) == 1) value->minimum_version = (bh_tls_version)choose_number(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved_number, 1, sizeof value->reserved_number);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
}

static void fill_bh_proxy_settings(struct choices *choices, bh_proxy_settings *value) {
    memset(value, 0, sizeof *value);
    if (choose(choices, 4) == 1) value->url = choose_text(choices);
    if (choose(choices, 4) == 1) value->user = choose_text(choices);
    if (choose(choices, 4) == 1) value->password = choose_text(choices);
    if (choose(choices, 4) == 1) value->bypass = choose_text(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
}

static void fill_bh_budget(struct choices *choices, bh_budget *value) {
    memset(value, 0, sizeof *value);
    if (choose(choices, 4) == 1) value->daily = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->monthly = (uint64_t)choose_number(choices);
}

static void fill_bh_header(struct choices *choices, bh_header *value) {
    memset(value, 0, sizeof *value);
    if (choose(choices, 4) == 1) value->name = choose_text(choices);
    if (choose(choices, 4) == 1) value->value = choose_text(choices);
}

static void fill_bh_session_configuration(struct choices *choices, bh_session_configuration *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) value->identifier = choose_text(choices);
    if (choose(choices, 4) == 1) fill_bh_retry_policy(choices, &value->retry);
    if (choose(choices, 4) == 1) fill_bh_transfer_rules(choices, &value->rules);
    if (choose(choices, 4) == 1) fill_bh_constraints(choices, &value->constraints);
    if (choose(choices, 4) == 1) fill_bh_tls_settings(choices, &value->tls);
    if (choose(choices, 4) == 1) fill_bh_proxy_settings(choices, &value->proxy);
    if (choose(choices, 4) == 1) fill_bh_budget(choices, &value->budget);
    if (choose(choices, 4) == 1) value->bytes_per_second = (uint64_t)choose_number(choices);
    if (choose(choices, 3) == 1) { size_t length = 1;
        bh_header *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) fill_bh_header(choices, &list[i]);
        value->headers = (const bh_header *)list; value->header_count = list ? length : 0; }
    if (choose(choices, 4) == 1) value->connections_per_origin = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->maximum_running_tasks = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->history_limit = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->cookies = (bh_cookies)choose_number(choices);
    if (choose(choices, 4) == 1) value->tolerances = (bh_tolerances)choose_number(choices);
    if (choose(choices, 4) == 1) value->sends_launch_events = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->asks_for_credentials = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->discretionary_if_launched = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->launch_if_stopped_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->slow_after_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->slow_pause_ms = (uint32_t)choose_number(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
}

static void fill_bh_part(struct choices *choices, bh_part *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) value->name = choose_text(choices);
    if (choose(choices, 4) == 1) value->file = choose_text(choices);
    if (choose(choices, 3) == 1) { size_t length = choose(choices, 4);
        char *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = (char)choose_number(choices);
        value->value = (const void *)list; value->value_size = list ? length : 0; }
    if (choose(choices, 4) == 1) value->file_name = choose_text(choices);
    if (choose(choices, 4) == 1) value->media_type = choose_text(choices);
}

static void fill_bh_policy(struct choices *choices, bh_policy *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) fill_bh_retry_policy(choices, &value->retry);
    if (choose(choices, 4) == 1) fill_bh_transfer_rules(choices, &value->rules);
    if (choose(choices, 4) == 1) fill_bh_constraints(choices, &value->constraints);
    if (choose(choices, 4) == 1) value->bytes_per_second = (uint64_t)choose_number(choices);
}

static void fill_bh_dependency(struct choices *choices, bh_dependency *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) value->task_id = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->idempotency_key = choose_text(choices);
    if (choose(choices, 4) == 1) value->url = choose_text(choices);
    if (choose(choices, 4) == 1) value->body = choose_text(choices);
    if (choose(choices, 3) == 1) { size_t length = 1;
        bh_header *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) fill_bh_header(choices, &list[i]);
        value->headers = (const bh_header *)list; value->header_count = list ? length : 0; }
    if (choose(choices, 4) == 1) value->if_fails = (bh_dependency_failure)choose_number(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
}

static void fill_bh_request(struct choices *choices, bh_request *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    value->url = choose(choices, 8) != 1 ? "http://127.0.0.1:9/a" : choose_text(choices);
    if (!choose(choices, 2)) return;
    if (choose(choices, 16) == 1) value->destination = choose_text(choices);
    if (choose(choices, 16) == 1) value->idempotency_key = choose_text(choices);
    if (choose(choices, 3) == 1) { size_t length = 1;
        bh_header *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) fill_bh_header(choices, &list[i]);
        value->headers = (const bh_header *)list; value->header_count = list ? length : 0; }
    if (choose(choices, 3) == 1) { size_t length = choose(choices, 4);
        char *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = (char)choose_number(choices);
        value->user_data = (const void *)list; value->user_data_size = list ? length : 0; }
    if (choose(choices, 16) == 1) value->method = choose_text(choices);
    if (choose(choices, 16) == 1) value->group = choose_text(choices);
    if (choose(choices, 16) == 1) value->checksum = choose_text(choices);
    if (choose(choices, 16) == 1) value->expected_size = (uint64_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->body_file = choose_text(choices);
    if (choose(choices, 3) == 1) { size_t length = choose(choices, 4);
        char *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = (char)choose_number(choices);
        value->body = (const void *)list; value->body_size = list ? length : 0; }
    if (choose(choices, 3) == 1) { size_t length = 1;
        bh_part *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) fill_bh_part(choices, &list[i]);
        value->parts = (const bh_part *)list; value->part_count = list ? length : 0; }
    if (choose(choices, 16) == 1) {
        bh_policy *part = take_memory(choices, sizeof *part);
        if (part) fill_bh_policy(choices, part);
        value->policy = part;
    }
    if (choose(choices, 16) == 1) value->expires_ms = (int64_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->earliest_start_ms = (int64_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->latest_start_ms = (int64_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->expected_bytes_received = (uint64_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->expected_bytes_sent = (uint64_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->flags = (bh_request_flags)choose_number(choices);
    if (choose(choices, 16) == 1) value->if_exists = (bh_if_exists)choose_number(choices);
    if (choose(choices, 16) == 1) value->body_source = (bh_body_source)choose_number(choices);
    if (choose(choices, 16) == 1) value->refresh = (bh_refresh)choose_number(choices);
    if (choose(choices, 16) == 1) value->priority = (int32_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->mode = (uint32_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->range_start = (uint64_t)choose_number(choices);
    if (choose(choices, 16) == 1) value->range_size = (uint64_t)choose_number(choices);
    if (choose(choices, 3) == 1) { size_t length = 1;
        bh_dependency *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) fill_bh_dependency(choices, &list[i]);
        value->after = (const bh_dependency *)list; value->after_count = list ? length : 0; }
}

static void fill_bh_challenge_response(struct choices *choices, bh_challenge_response *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) value->kind = (bh_challenge_response_kind)choose_number(choices);
    if (choose(choices, 4) == 1) value->flags = (bh_challenge_response_flags)choose_number(choices);
    if (choose(choices, 4) == 1) value->user = choose_text(choices);
    if (choose(choices, 4) == 1) value->password = choose_text(choices);
    if (choose(choices, 3) == 1) { size_t length = 1;
        bh_header *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) fill_bh_header(choices, &list[i]);
        value->headers = (const bh_header *)list; value->header_count = list ? length : 0; }
    if (choose(choices, 4) == 1) value->url = choose_text(choices);
    if (choose(choices, 4) == 1) value->expires_ms = (int64_t)choose_number(choices);
}

static void fill_bh_task_selection(struct choices *choices, bh_task_selection *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 3) == 1) { size_t length = choose(choices, 4);
        uint64_t *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = (uint64_t)choose_number(choices);
        value->ids = (const uint64_t *)list; value->id_count = list ? length : 0; }
    if (choose(choices, 4) == 1) value->group = choose_text(choices);
    if (choose(choices, 4) == 1) value->states = (uint32_t)choose_number(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
}

static void fill_bh_network(struct choices *choices, bh_network *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) value->name = choose_text(choices);
    if (choose(choices, 4) == 1) value->metered = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->month_starts_on = (uint32_t)choose_number(choices);
    if (choose(choices, 4) == 1) fill_bh_budget(choices, &value->budget);
    if (choose(choices, 4) == 1) value->kind = (bh_network_kinds)choose_number(choices);
    if (choose(choices, 4) == 1) value->is_current = (bool)choose_number(choices);
    if (choose(choices, 64) == 1) memset(&value->reserved, 1, sizeof value->reserved);
    if (choose(choices, 4) == 1) value->used_today = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->used_this_month = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->day_ends_ms = (int64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->month_ends_ms = (int64_t)choose_number(choices);
}

static void fill_bh_activity(struct choices *choices, bh_activity *value) {
    memset(value, 0, sizeof *value);
    value->struct_size = choose(choices, 8) != 1 ? sizeof *value : choose(choices, sizeof *value);
    if (choose(choices, 4) == 1) value->identifier = choose_text(choices);
    if (choose(choices, 4) == 1) value->interval_ms = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->tolerance_ms = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->repeats = (bh_choice)choose_number(choices);
    if (choose(choices, 4) == 1) value->quality_of_service = (bh_quality_of_service)choose_number(choices);
    if (choose(choices, 4) == 1) {
        bh_request *part = take_memory(choices, sizeof *part);
        if (part) fill_bh_request(choices, part);
        value->request = part;
    }
    if (choose(choices, 4) == 1) value->first_ms = (int64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->next_ms = (int64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->next_ends_ms = (int64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->last_started_ms = (int64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->last_task = (uint64_t)choose_number(choices);
    if (choose(choices, 4) == 1) value->url = choose_text(choices);
}

static bh_status make_bh_version(struct choices *choices) {
    (void)choices;
    bh_version();
    return BH_FORKED;
}

static bh_status make_bh_version_string(struct choices *choices) {
    (void)choices;
    bh_version_string();
    return BH_FORKED;
}

static bh_status make_bh_abi_json(struct choices *choices) {
    (void)choices;
    bh_abi_json();
    return BH_FORKED;
}

static bh_status make_bh_status_name(struct choices *choices) {
    (void)choices;
    bh_status status = (bh_status)choose_number(choices);
    bh_status_name(status);
    return BH_FORKED;
}

static bh_status make_bh_status_text(struct choices *choices) {
    (void)choices;
    bh_status status = (bh_status)choose_number(choices);
    bh_status_text(status);
    return BH_FORKED;
}

static bh_status make_bh_name(struct choices *choices) {
    (void)choices;
    const char *type = choose_text(choices);
    int64_t value = (int64_t)choose_number(choices);
    bh_name(type, value);
    return BH_FORKED;
}

static bh_status make_bh_application_open(struct choices *choices) {
    (void)choices;
    bh_application_options options_value;
    bh_application_options *options = choose(choices, 16) != 1 ? &options_value : NULL;
    fill_bh_application_options(choices, &options_value);
    int32_t timeout_ms = choose_timeout(choices);
    bh_application *application_value = UNTOUCHED, **application = &application_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_application_open(options, timeout_ms, application, error);
    check_untouched("bh_application_open", status, application_value);
    if (application_value != UNTOUCHED) keep_handle(choices, APPLICATION, application_value);
    check_status(choices, "bh_application_open", status, error);
    return status;
}

static bh_status make_bh_application_close(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    bh_application_close(application);
    return BH_FORKED;
}

static bh_status make_bh_application_event_fd(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int descriptor_value = 7, *descriptor = choose(choices, 8) != 1 ? &descriptor_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_application_event_fd(application, descriptor, error);
    check_status(choices, "bh_application_event_fd", status, error);
    return status;
}

static bh_status make_bh_application_poll(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *sessions_value = UNTOUCHED, **sessions = &sessions_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_application_poll(application, timeout_ms, sessions, error);
    check_untouched("bh_application_poll", status, sessions_value);
    if (sessions_value != UNTOUCHED) keep_handle(choices, BATCH, sessions_value);
    check_status(choices, "bh_application_poll", status, error);
    return status;
}

static bh_status make_bh_application_sessions(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *sessions_value = UNTOUCHED, **sessions = &sessions_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_application_sessions(application, timeout_ms, sessions, error);
    check_untouched("bh_application_sessions", status, sessions_value);
    if (sessions_value != UNTOUCHED) keep_handle(choices, BATCH, sessions_value);
    check_status(choices, "bh_application_sessions", status, error);
    return status;
}

static bh_status make_bh_application_set_launch(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    bh_launch_command command_value;
    bh_launch_command *command = choose(choices, 16) != 1 ? &command_value : NULL;
    fill_bh_launch_command(choices, &command_value);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_application_set_launch(application, command, timeout_ms, error);
    check_status(choices, "bh_application_set_launch", status, error);
    return status;
}

static bh_status make_bh_application_current_launch(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *launch_value = UNTOUCHED, **launch = &launch_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_application_current_launch(application, timeout_ms, launch, error);
    check_untouched("bh_application_current_launch", status, launch_value);
    if (launch_value != UNTOUCHED) keep_handle(choices, BATCH, launch_value);
    check_status(choices, "bh_application_current_launch", status, error);
    return status;
}

static bh_status make_bh_store_engine(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *engine_value = UNTOUCHED, **engine = &engine_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_engine(application, timeout_ms, engine, error);
    check_untouched("bh_store_engine", status, engine_value);
    if (engine_value != UNTOUCHED) keep_handle(choices, BATCH, engine_value);
    check_status(choices, "bh_store_engine", status, error);
    return status;
}

static bh_status make_bh_store_applications(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *applications_value = UNTOUCHED, **applications = &applications_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_applications(application, timeout_ms, applications, error);
    check_untouched("bh_store_applications", status, applications_value);
    if (applications_value != UNTOUCHED) keep_handle(choices, BATCH, applications_value);
    check_status(choices, "bh_store_applications", status, error);
    return status;
}

static bh_status make_bh_store_metrics(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *metrics_value = UNTOUCHED, **metrics = &metrics_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_metrics(application, timeout_ms, metrics, error);
    check_untouched("bh_store_metrics", status, metrics_value);
    if (metrics_value != UNTOUCHED) keep_handle(choices, BATCH, metrics_value);
    check_status(choices, "bh_store_metrics", status, error);
    return status;
}

static bh_status make_bh_store_set_limits(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    bh_limits limits_value;
    bh_limits *limits = choose(choices, 16) != 1 ? &limits_value : NULL;
    fill_bh_limits(choices, &limits_value);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_set_limits(application, limits, timeout_ms, error);
    check_status(choices, "bh_store_set_limits", status, error);
    return status;
}

static bh_status make_bh_store_limits(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *limits_value = UNTOUCHED, **limits = &limits_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_limits(application, timeout_ms, limits, error);
    check_untouched("bh_store_limits", status, limits_value);
    if (limits_value != UNTOUCHED) keep_handle(choices, BATCH, limits_value);
    check_status(choices, "bh_store_limits", status, error);
    return status;
}

static bh_status make_bh_store_launches(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *launches_value = UNTOUCHED, **launches = &launches_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_launches(application, timeout_ms, launches, error);
    check_untouched("bh_store_launches", status, launches_value);
    if (launches_value != UNTOUCHED) keep_handle(choices, BATCH, launches_value);
    check_status(choices, "bh_store_launches", status, error);
    return status;
}

static bh_status make_bh_session_create(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    bh_session_configuration configuration_value;
    bh_session_configuration *configuration = choose(choices, 16) != 1 ? &configuration_value : NULL;
    fill_bh_session_configuration(choices, &configuration_value);
    bh_role role = (bh_role)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_session *session_value = UNTOUCHED, **session = &session_value;
    bh_session_disposition disposition_value = 7, *disposition = choose(choices, 8) != 1 ? &disposition_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_create(application, configuration, role, timeout_ms, session, disposition, error);
    check_untouched("bh_session_create", status, session_value);
    if (session_value != UNTOUCHED) keep_handle(choices, SESSION, session_value);
    check_status(choices, "bh_session_create", status, error);
    return status;
}

static bh_status make_bh_session_attach(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    const char *identifier = choose_text(choices);
    bh_role role = (bh_role)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_session *session_value = UNTOUCHED, **session = &session_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_attach(application, identifier, role, timeout_ms, session, error);
    check_untouched("bh_session_attach", status, session_value);
    if (session_value != UNTOUCHED) keep_handle(choices, SESSION, session_value);
    check_status(choices, "bh_session_attach", status, error);
    return status;
}

static bh_status make_bh_session_close(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_session_close(session);
    return BH_FORKED;
}

static bh_status make_bh_session_event_fd(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    int descriptor_value = 7, *descriptor = choose(choices, 8) != 1 ? &descriptor_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_event_fd(session, descriptor, error);
    check_status(choices, "bh_session_event_fd", status, error);
    return status;
}

static bh_status make_bh_session_get_configuration(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *configuration_value = UNTOUCHED, **configuration = &configuration_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_get_configuration(session, timeout_ms, configuration, error);
    check_untouched("bh_session_get_configuration", status, configuration_value);
    if (configuration_value != UNTOUCHED) keep_handle(choices, BATCH, configuration_value);
    check_status(choices, "bh_session_get_configuration", status, error);
    return status;
}

static bh_status make_bh_session_set_configuration(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_session_configuration configuration_value;
    bh_session_configuration *configuration = choose(choices, 16) != 1 ? &configuration_value : NULL;
    fill_bh_session_configuration(choices, &configuration_value);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_set_configuration(session, configuration, timeout_ms, error);
    check_status(choices, "bh_session_set_configuration", status, error);
    return status;
}

static bh_status make_bh_session_complete(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_complete(session, timeout_ms, error);
    check_status(choices, "bh_session_complete", status, error);
    return status;
}

static bh_status make_bh_session_invalidate(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_invalidation mode = (bh_invalidation)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_invalidate(session, mode, timeout_ms, error);
    check_status(choices, "bh_session_invalidate", status, error);
    return status;
}

static bh_status make_bh_session_enqueue(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    const bh_request *requests = NULL; size_t count = 0;
    if (choose(choices, 8) != 1) { size_t length = 1;
        bh_request *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) fill_bh_request(choices, &list[i]);
        requests = (const bh_request *)list; count = list ? length : 0; }
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *results_value = UNTOUCHED, **results = &results_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_enqueue(session, requests, count, timeout_ms, results, error);
    count_enqueued(status, count);
    if (results_value != UNTOUCHED) keep_handle(choices, BATCH, results_value);
    check_status(choices, "bh_session_enqueue", status, error);
    return status;
}

static bh_status make_bh_session_poll(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint64_t after = (uint64_t)choose_number(choices);
    size_t maximum = (size_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *events_value = UNTOUCHED, **events = &events_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_poll(session, after, maximum, timeout_ms, events, error);
    check_untouched("bh_session_poll", status, events_value);
    if (events_value != UNTOUCHED) keep_handle(choices, BATCH, events_value);
    check_status(choices, "bh_session_poll", status, error);
    return status;
}

static bh_status make_bh_session_acknowledge(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    const uint64_t *ids = NULL; size_t count = 0;
    if (choose(choices, 8) != 1) { size_t length = choose(choices, 4);
        uint64_t *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = (uint64_t)choose_number(choices);
        ids = (const uint64_t *)list; count = list ? length : 0; }
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t acknowledged_value = 7, *acknowledged = choose(choices, 8) != 1 ? &acknowledged_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_acknowledge(session, ids, count, timeout_ms, acknowledged, error);
    check_status(choices, "bh_session_acknowledge", status, error);
    return status;
}

static bh_status make_bh_session_acknowledge_through(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint64_t id = (uint64_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t acknowledged_value = 7, *acknowledged = choose(choices, 8) != 1 ? &acknowledged_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_acknowledge_through(session, id, timeout_ms, acknowledged, error);
    check_status(choices, "bh_session_acknowledge_through", status, error);
    return status;
}

static bh_status make_bh_session_challenges(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *challenges_value = UNTOUCHED, **challenges = &challenges_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_challenges(session, timeout_ms, challenges, error);
    check_untouched("bh_session_challenges", status, challenges_value);
    if (challenges_value != UNTOUCHED) keep_handle(choices, BATCH, challenges_value);
    check_status(choices, "bh_session_challenges", status, error);
    return status;
}

static bh_status make_bh_session_respond(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint64_t challenge_id = (uint64_t)choose_number(choices);
    bh_challenge_response response_value;
    bh_challenge_response *response = choose(choices, 16) != 1 ? &response_value : NULL;
    fill_bh_challenge_response(choices, &response_value);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_respond(session, challenge_id, response, timeout_ms, error);
    check_status(choices, "bh_session_respond", status, error);
    return status;
}

static bh_status make_bh_session_tasks(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    uint64_t after = (uint64_t)choose_number(choices);
    size_t maximum = (size_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *tasks_value = UNTOUCHED, **tasks = &tasks_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_tasks(session, selection, after, maximum, timeout_ms, tasks, error);
    check_untouched("bh_session_tasks", status, tasks_value);
    if (tasks_value != UNTOUCHED) keep_handle(choices, BATCH, tasks_value);
    check_status(choices, "bh_session_tasks", status, error);
    return status;
}

static bh_status make_bh_session_task(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint64_t task_id = (uint64_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *task_value = UNTOUCHED, **task = &task_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_task(session, task_id, timeout_ms, task, error);
    check_untouched("bh_session_task", status, task_value);
    if (task_value != UNTOUCHED) keep_handle(choices, BATCH, task_value);
    check_status(choices, "bh_session_task", status, error);
    return status;
}

static bh_status make_bh_session_history(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint64_t after = (uint64_t)choose_number(choices);
    size_t maximum = (size_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *tasks_value = UNTOUCHED, **tasks = &tasks_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_history(session, after, maximum, timeout_ms, tasks, error);
    check_untouched("bh_session_history", status, tasks_value);
    if (tasks_value != UNTOUCHED) keep_handle(choices, BATCH, tasks_value);
    check_status(choices, "bh_session_history", status, error);
    return status;
}

static bh_status make_bh_tasks_cancel(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t affected_value = 7, *affected = choose(choices, 8) != 1 ? &affected_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_cancel(session, selection, timeout_ms, affected, error);
    check_status(choices, "bh_tasks_cancel", status, error);
    return status;
}

static bh_status make_bh_tasks_suspend(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t affected_value = 7, *affected = choose(choices, 8) != 1 ? &affected_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_suspend(session, selection, timeout_ms, affected, error);
    check_status(choices, "bh_tasks_suspend", status, error);
    return status;
}

static bh_status make_bh_tasks_set_aside(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t affected_value = 7, *affected = choose(choices, 8) != 1 ? &affected_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_set_aside(session, selection, timeout_ms, affected, error);
    check_status(choices, "bh_tasks_set_aside", status, error);
    return status;
}

static bh_status make_bh_tasks_resume(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t affected_value = 7, *affected = choose(choices, 8) != 1 ? &affected_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_resume(session, selection, timeout_ms, affected, error);
    check_status(choices, "bh_tasks_resume", status, error);
    return status;
}

static bh_status make_bh_tasks_set_priority(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    int32_t priority = (int32_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t affected_value = 7, *affected = choose(choices, 8) != 1 ? &affected_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_set_priority(session, selection, priority, timeout_ms, affected, error);
    check_status(choices, "bh_tasks_set_priority", status, error);
    return status;
}

static bh_status make_bh_tasks_set_rate(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    uint64_t bytes_per_second = (uint64_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t affected_value = 7, *affected = choose(choices, 8) != 1 ? &affected_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_set_rate(session, selection, bytes_per_second, timeout_ms, affected, error);
    check_status(choices, "bh_tasks_set_rate", status, error);
    return status;
}

static bh_status make_bh_tasks_set_constraints(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    bh_constraints constraints_value;
    bh_constraints *constraints = choose(choices, 16) != 1 ? &constraints_value : NULL;
    fill_bh_constraints(choices, &constraints_value);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t affected_value = 7, *affected = choose(choices, 8) != 1 ? &affected_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_set_constraints(session, selection, constraints, timeout_ms, affected, error);
    check_status(choices, "bh_tasks_set_constraints", status, error);
    return status;
}

static bh_status make_bh_tasks_reschedule(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_task_selection selection_value;
    bh_task_selection *selection = choose(choices, 16) != 1 ? &selection_value : NULL;
    fill_bh_task_selection(choices, &selection_value);
    int64_t earliest_start_ms = (int64_t)choose_number(choices);
    int64_t latest_start_ms = (int64_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    uint64_t affected_value = 7, *affected = choose(choices, 8) != 1 ? &affected_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_reschedule(session, selection, earliest_start_ms, latest_start_ms, timeout_ms, affected, error);
    check_status(choices, "bh_tasks_reschedule", status, error);
    return status;
}

static bh_status make_bh_task_claim(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint64_t task_id = (uint64_t)choose_number(choices);
    const char *destination = choose_text(choices);
    bh_if_exists if_exists = (bh_if_exists)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_task_claim(session, task_id, destination, if_exists, timeout_ms, error);
    check_status(choices, "bh_task_claim", status, error);
    return status;
}

static bh_status make_bh_task_attempts(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint64_t task_id = (uint64_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *attempts_value = UNTOUCHED, **attempts = &attempts_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_task_attempts(session, task_id, timeout_ms, attempts, error);
    check_untouched("bh_task_attempts", status, attempts_value);
    if (attempts_value != UNTOUCHED) keep_handle(choices, BATCH, attempts_value);
    check_status(choices, "bh_task_attempts", status, error);
    return status;
}

static bh_status make_bh_tasks_attempts(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    const uint64_t *task_ids = NULL; size_t count = 0;
    if (choose(choices, 8) != 1) { size_t length = choose(choices, 4);
        uint64_t *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = (uint64_t)choose_number(choices);
        task_ids = (const uint64_t *)list; count = list ? length : 0; }
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *attempts_value = UNTOUCHED, **attempts = &attempts_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_attempts(session, task_ids, count, timeout_ms, attempts, error);
    check_untouched("bh_tasks_attempts", status, attempts_value);
    if (attempts_value != UNTOUCHED) keep_handle(choices, BATCH, attempts_value);
    check_status(choices, "bh_tasks_attempts", status, error);
    return status;
}

static bh_status make_bh_task_waits(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint64_t task_id = (uint64_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *waits_value = UNTOUCHED, **waits = &waits_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_task_waits(session, task_id, timeout_ms, waits, error);
    check_untouched("bh_task_waits", status, waits_value);
    if (waits_value != UNTOUCHED) keep_handle(choices, BATCH, waits_value);
    check_status(choices, "bh_task_waits", status, error);
    return status;
}

static bh_status make_bh_tasks_waits(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    const uint64_t *task_ids = NULL; size_t count = 0;
    if (choose(choices, 8) != 1) { size_t length = choose(choices, 4);
        uint64_t *list = take_memory(choices, length * sizeof *list);
        for (size_t i = 0; list && i < length; i++) list[i] = (uint64_t)choose_number(choices);
        task_ids = (const uint64_t *)list; count = list ? length : 0; }
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *waits_value = UNTOUCHED, **waits = &waits_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_tasks_waits(session, task_ids, count, timeout_ms, waits, error);
    check_untouched("bh_tasks_waits", status, waits_value);
    if (waits_value != UNTOUCHED) keep_handle(choices, BATCH, waits_value);
    check_status(choices, "bh_tasks_waits", status, error);
    return status;
}

static bh_status make_bh_session_watch_progress(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    uint32_t interval_ms = (uint32_t)choose_number(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_watch_progress(session, interval_ms, timeout_ms, error);
    check_status(choices, "bh_session_watch_progress", status, error);
    return status;
}

static bh_status make_bh_session_poll_progress(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *progress_value = UNTOUCHED, **progress = &progress_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_poll_progress(session, timeout_ms, progress, error);
    check_untouched("bh_session_poll_progress", status, progress_value);
    if (progress_value != UNTOUCHED) keep_handle(choices, BATCH, progress_value);
    check_status(choices, "bh_session_poll_progress", status, error);
    return status;
}

static bh_status make_bh_session_progress_fd(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    int descriptor_value = 7, *descriptor = choose(choices, 8) != 1 ? &descriptor_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_progress_fd(session, descriptor, error);
    check_status(choices, "bh_session_progress_fd", status, error);
    return status;
}

static bh_status make_bh_store_conditions(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *conditions_value = UNTOUCHED, **conditions = &conditions_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_conditions(application, timeout_ms, conditions, error);
    check_untouched("bh_store_conditions", status, conditions_value);
    if (conditions_value != UNTOUCHED) keep_handle(choices, BATCH, conditions_value);
    check_status(choices, "bh_store_conditions", status, error);
    return status;
}

static bh_status make_bh_store_holds(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *holds_value = UNTOUCHED, **holds = &holds_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_holds(application, timeout_ms, holds, error);
    check_untouched("bh_store_holds", status, holds_value);
    if (holds_value != UNTOUCHED) keep_handle(choices, BATCH, holds_value);
    check_status(choices, "bh_store_holds", status, error);
    return status;
}

static bh_status make_bh_store_set_network(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    bh_network network_value;
    bh_network *network = choose(choices, 16) != 1 ? &network_value : NULL;
    fill_bh_network(choices, &network_value);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_set_network(application, network, timeout_ms, error);
    check_status(choices, "bh_store_set_network", status, error);
    return status;
}

static bh_status make_bh_store_networks(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *networks_value = UNTOUCHED, **networks = &networks_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_store_networks(application, timeout_ms, networks, error);
    check_untouched("bh_store_networks", status, networks_value);
    if (networks_value != UNTOUCHED) keep_handle(choices, BATCH, networks_value);
    check_status(choices, "bh_store_networks", status, error);
    return status;
}

static bh_status make_bh_session_set_activity(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    bh_activity activity_value;
    bh_activity *activity = choose(choices, 16) != 1 ? &activity_value : NULL;
    fill_bh_activity(choices, &activity_value);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_set_activity(session, activity, timeout_ms, error);
    check_status(choices, "bh_session_set_activity", status, error);
    return status;
}

static bh_status make_bh_session_remove_activity(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    const char *identifier = choose_text(choices);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_remove_activity(session, identifier, timeout_ms, error);
    check_status(choices, "bh_session_remove_activity", status, error);
    return status;
}

static bh_status make_bh_session_activities(struct choices *choices) {
    (void)choices;
    bh_session *session = choose_handle(choices, SESSION);
    int32_t timeout_ms = choose_timeout(choices);
    bh_batch *activities_value = UNTOUCHED, **activities = &activities_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_session_activities(session, timeout_ms, activities, error);
    check_untouched("bh_session_activities", status, activities_value);
    if (activities_value != UNTOUCHED) keep_handle(choices, BATCH, activities_value);
    check_status(choices, "bh_session_activities", status, error);
    return status;
}

static bh_status make_bh_batch_count(struct choices *choices) {
    (void)choices;
    bh_batch *batch = choose_handle(choices, BATCH);
    bh_batch_count(batch);
    return BH_FORKED;
}

static bh_status make_bh_batch_more(struct choices *choices) {
    (void)choices;
    bh_batch *batch = choose_handle(choices, BATCH);
    bh_batch_more(batch);
    return BH_FORKED;
}

static bh_status make_bh_batch_item(struct choices *choices) {
    (void)choices;
    bh_batch *batch = choose_handle(choices, BATCH);
    size_t index = (size_t)choose_number(choices);
    bh_item_kind kind = (bh_item_kind)choose_number(choices);
    size_t size = (size_t)choose_number(choices);
    bh_batch_item(batch, index, kind, size);
    return BH_FORKED;
}

static bh_status make_bh_batch_release(struct choices *choices) {
    (void)choices;
    bh_batch *batch = choose_handle(choices, BATCH);
    bh_batch_release(batch);
    return BH_FORKED;
}

static bh_status make_bh_application_next_ticket(struct choices *choices) {
    (void)choices;
    bh_application *application = choose_handle(choices, APPLICATION);
    bh_ticket *ticket_value = UNTOUCHED, **ticket = &ticket_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_application_next_ticket(application, ticket, error);
    check_untouched("bh_application_next_ticket", status, ticket_value);
    check_status(choices, "bh_application_next_ticket", status, error);
    return status;
}

static bh_status make_bh_ticket_wait(struct choices *choices) {
    (void)choices;
    bh_ticket *ticket = choose_handle(choices, TICKET);
    int32_t timeout_ms = choose_timeout(choices);
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_ticket_wait(ticket, timeout_ms, error);
    check_status(choices, "bh_ticket_wait", status, error);
    return status;
}

static bh_status make_bh_ticket_session(struct choices *choices) {
    (void)choices;
    bh_ticket *ticket = choose_handle(choices, TICKET);
    bh_session *session_value = UNTOUCHED, **session = &session_value;
    bh_session_disposition disposition_value = 7, *disposition = choose(choices, 8) != 1 ? &disposition_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_ticket_session(ticket, session, disposition, error);
    check_untouched("bh_ticket_session", status, session_value);
    if (session_value != UNTOUCHED) keep_handle(choices, SESSION, session_value);
    check_status(choices, "bh_ticket_session", status, error);
    return status;
}

static bh_status make_bh_ticket_batch(struct choices *choices) {
    (void)choices;
    bh_ticket *ticket = choose_handle(choices, TICKET);
    bh_batch *batch_value = UNTOUCHED, **batch = &batch_value;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_ticket_batch(ticket, batch, error);
    if (batch_value != UNTOUCHED) keep_handle(choices, BATCH, batch_value);
    check_status(choices, "bh_ticket_batch", status, error);
    return status;
}

static bh_status make_bh_ticket_count(struct choices *choices) {
    (void)choices;
    bh_ticket *ticket = choose_handle(choices, TICKET);
    uint64_t count_value = 7, *count = choose(choices, 8) != 1 ? &count_value : NULL;
    bh_error error_value, *error = choose(choices, 8) != 1 ? &error_value : NULL;
    begin_error(choices, &error_value);
    bh_status status =
        bh_ticket_count(ticket, count, error);
    check_status(choices, "bh_ticket_count", status, error);
    return status;
}

static bh_status make_bh_ticket_set_data(struct choices *choices) {
    (void)choices;
    bh_ticket *ticket = choose_handle(choices, TICKET);
    void *data = choices;
    bh_ticket_set_data(ticket, data);
    return BH_FORKED;
}

static bh_status make_bh_ticket_data(struct choices *choices) {
    (void)choices;
    bh_ticket *ticket = choose_handle(choices, TICKET);
    bh_ticket_data(ticket);
    return BH_FORKED;
}

static bh_status make_bh_ticket_release(struct choices *choices) {
    (void)choices;
    bh_ticket *ticket = choose_handle(choices, TICKET);
    bh_ticket_release(ticket);
    return BH_FORKED;
}

static const struct call CALLS[] = {
    {"bh_version", make_bh_version},
    {"bh_version_string", make_bh_version_string},
    {"bh_abi_json", make_bh_abi_json},
    {"bh_status_name", make_bh_status_name},
    {"bh_status_text", make_bh_status_text},
    {"bh_name", make_bh_name},
    {"bh_application_open", make_bh_application_open},
    {"bh_application_close", make_bh_application_close},
    {"bh_application_event_fd", make_bh_application_event_fd},
    {"bh_application_poll", make_bh_application_poll},
    {"bh_application_sessions", make_bh_application_sessions},
    {"bh_application_set_launch", make_bh_application_set_launch},
    {"bh_application_current_launch", make_bh_application_current_launch},
    {"bh_store_engine", make_bh_store_engine},
    {"bh_store_applications", make_bh_store_applications},
    {"bh_store_metrics", make_bh_store_metrics},
    {"bh_store_set_limits", make_bh_store_set_limits},
    {"bh_store_limits", make_bh_store_limits},
    {"bh_store_launches", make_bh_store_launches},
    {"bh_session_create", make_bh_session_create},
    {"bh_session_attach", make_bh_session_attach},
    {"bh_session_close", make_bh_session_close},
    {"bh_session_event_fd", make_bh_session_event_fd},
    {"bh_session_get_configuration", make_bh_session_get_configuration},
    {"bh_session_set_configuration", make_bh_session_set_configuration},
    {"bh_session_complete", make_bh_session_complete},
    {"bh_session_invalidate", make_bh_session_invalidate},
    {"bh_session_enqueue", make_bh_session_enqueue},
    {"bh_session_poll", make_bh_session_poll},
    {"bh_session_acknowledge", make_bh_session_acknowledge},
    {"bh_session_acknowledge_through", make_bh_session_acknowledge_through},
    {"bh_session_challenges", make_bh_session_challenges},
    {"bh_session_respond", make_bh_session_respond},
    {"bh_session_tasks", make_bh_session_tasks},
    {"bh_session_task", make_bh_session_task},
    {"bh_session_history", make_bh_session_history},
    {"bh_tasks_cancel", make_bh_tasks_cancel},
    {"bh_tasks_suspend", make_bh_tasks_suspend},
    {"bh_tasks_set_aside", make_bh_tasks_set_aside},
    {"bh_tasks_resume", make_bh_tasks_resume},
    {"bh_tasks_set_priority", make_bh_tasks_set_priority},
    {"bh_tasks_set_rate", make_bh_tasks_set_rate},
    {"bh_tasks_set_constraints", make_bh_tasks_set_constraints},
    {"bh_tasks_reschedule", make_bh_tasks_reschedule},
    {"bh_task_claim", make_bh_task_claim},
    {"bh_task_attempts", make_bh_task_attempts},
    {"bh_tasks_attempts", make_bh_tasks_attempts},
    {"bh_task_waits", make_bh_task_waits},
    {"bh_tasks_waits", make_bh_tasks_waits},
    {"bh_session_watch_progress", make_bh_session_watch_progress},
    {"bh_session_poll_progress", make_bh_session_poll_progress},
    {"bh_session_progress_fd", make_bh_session_progress_fd},
    {"bh_store_conditions", make_bh_store_conditions},
    {"bh_store_holds", make_bh_store_holds},
    {"bh_store_set_network", make_bh_store_set_network},
    {"bh_store_networks", make_bh_store_networks},
    {"bh_session_set_activity", make_bh_session_set_activity},
    {"bh_session_remove_activity", make_bh_session_remove_activity},
    {"bh_session_activities", make_bh_session_activities},
    {"bh_batch_count", make_bh_batch_count},
    {"bh_batch_more", make_bh_batch_more},
    {"bh_batch_item", make_bh_batch_item},
    {"bh_batch_release", make_bh_batch_release},
    {"bh_application_next_ticket", make_bh_application_next_ticket},
    {"bh_ticket_wait", make_bh_ticket_wait},
    {"bh_ticket_session", make_bh_ticket_session},
    {"bh_ticket_batch", make_bh_ticket_batch},
    {"bh_ticket_count", make_bh_ticket_count},
    {"bh_ticket_set_data", make_bh_ticket_set_data},
    {"bh_ticket_data", make_bh_ticket_data},
    {"bh_ticket_release", make_bh_ticket_release},
};
