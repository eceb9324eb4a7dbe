PRAGMA application_id = 1112036145;
PRAGMA user_version = 5;
BEGIN TRANSACTION;
CREATE TABLE activities (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    identifier TEXT NOT NULL,
    interval_ms INTEGER NOT NULL,
    tolerance_ms INTEGER NOT NULL,
    repeats INTEGER NOT NULL,
    quality_of_service INTEGER NOT NULL,
    -- NULL: not stated.
    first_ms INTEGER,
    next_ms INTEGER NOT NULL,
    last_started_ms INTEGER,
    last_task_id INTEGER,
    url TEXT,
    scheme TEXT,
    server TEXT,
    port INTEGER,
    destination TEXT,
    directory_device INTEGER,
    directory_inode INTEGER,
    if_exists INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    mode INTEGER NOT NULL,
    headers BLOB,
    user_data BLOB,
    constraints_id INTEGER NOT NULL,
    UNIQUE (session_id, identifier)
) STRICT;
INSERT INTO "activities" VALUES(1,3,'catalogue',86400000,3600000,1,2,4102444800000,4102444800000,NULL,NULL,'@ORIGIN@/catalogue','http','127.0.0.1',47013,'@PLACE@/files/catalogue',65024,6759279,1,0,420,NULL,X'7765656B6C79',0);
INSERT INTO "activities" VALUES(2,4,'upkeep',315360000000,1000,1,3,1795298470989,2110658470989,1795298470994,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,NULL,NULL,0);
CREATE TABLE activity_options (
    activity_id INTEGER PRIMARY KEY REFERENCES activities ON DELETE CASCADE,
    method TEXT,
    "group" TEXT,
    checksum TEXT,
    expected_size INTEGER,
    refresh INTEGER NOT NULL,
    expires_ms INTEGER,
    if_changed INTEGER NOT NULL,
    named_by_server INTEGER NOT NULL,
    ignores_digests INTEGER NOT NULL,
    maximum_attempts INTEGER,
    first_retry_delay_ms INTEGER,
    longest_retry_delay_ms INTEGER,
    retry_jitter_percent INTEGER,
    retry_errors INTEGER,
    retries_unsafe_methods INTEGER,
    retry_statuses TEXT,
    accepted_statuses TEXT,
    request_timeout_ms INTEGER,
    resource_timeout_ms INTEGER,
    http_version INTEGER,
    redirects INTEGER,
    maximum_redirects INTEGER,
    maximum_size INTEGER,
    bytes_per_second INTEGER,
    -- NULL: there is no body.
    body_source INTEGER,
    body_size INTEGER,
    body BLOB,
    earliest_start_ms INTEGER,
    latest_start_ms INTEGER,
    expected_bytes_received INTEGER,
    expected_bytes_sent INTEGER
) STRICT;
CREATE TABLE answers (
    task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
    final_url TEXT,
    media_type TEXT,
    headers BLOB,
    error_body BLOB
, response_body BLOB, checksum TEXT) STRICT;
INSERT INTO "answers" VALUES(2,'@ORIGIN@/single','application/octet-stream',X'04000000455461670800000022646F6E652D31220C000000436F6E74656E742D54797065180000006170706C69636174696F6E2F6F637465742D73747265616D04000000446174651D0000005361742C203231204E6F7620323032362032323A30313A303920474D54060000005365727665721A00000042617365485454502F302E3620507974686F6E2F332E31312E370A0000005365742D436F6F6B69653A00000076697369743D66697273743B20506174683D2F3B20457870697265733D4672692C203031204A616E20323130302030303A30303A303020474D540E000000436F6E74656E742D4C656E677468050000003130323430',NULL,NULL,NULL);
INSERT INTO "answers" VALUES(5,'@ORIGIN@/done','application/octet-stream',X'04000000455461670800000022646F6E652D31220C000000436F6E74656E742D54797065180000006170706C69636174696F6E2F6F637465742D73747265616D04000000446174651D0000005361742C203231204E6F7620323032362032323A30313A303920474D54060000005365727665721A00000042617365485454502F302E3620507974686F6E2F332E31312E370A0000005365742D436F6F6B69653A00000076697369743D66697273743B20506174683D2F3B20457870697265733D4672692C203031204A616E20323130302030303A30303A303020474D540E000000436F6E74656E742D4C656E677468050000003130323430',NULL,NULL,NULL);
INSERT INTO "answers" VALUES(6,'@ORIGIN@/kept-file','application/octet-stream',X'04000000455461670800000022646F6E652D31220C000000436F6E74656E742D54797065180000006170706C69636174696F6E2F6F637465742D73747265616D04000000446174651D0000005361742C203231204E6F7620323032362032323A30313A303920474D54060000005365727665721A00000042617365485454502F302E3620507974686F6E2F332E31312E370A0000005365742D436F6F6B69653A00000076697369743D66697273743B20506174683D2F3B20457870697265733D4672692C203031204A616E20323130302030303A30303A303020474D540E000000436F6E74656E742D4C656E677468050000003130323430',NULL,NULL,NULL);
INSERT INTO "answers" VALUES(7,'@ORIGIN@/absent','text/plain',X'0C000000436F6E74656E742D547970650A000000746578742F706C61696E04000000446174651D0000005361742C203231204E6F7620323032362032323A30313A303920474D54060000005365727665721A00000042617365485454502F302E3620507974686F6E2F332E31312E370E000000436F6E74656E742D4C656E677468020000003232',X'7468657265206973206E6F20737563682066696C650A',NULL,NULL);
INSERT INTO "answers" VALUES(8,'@ORIGIN@/upload',NULL,X'04000000446174651D0000005361742C203231204E6F7620323032362032323A30313A303920474D54060000005365727665721A00000042617365485454502F302E3620507974686F6E2F332E31312E370E000000436F6E74656E742D4C656E6774680100000037',NULL,X'7468616E6B730A',NULL);
CREATE TABLE applied (
    client_high INTEGER NOT NULL,
    client_low INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    reply BLOB NOT NULL,
    PRIMARY KEY (client_high, client_low, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE attempts (
    task_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    next INTEGER NOT NULL,
    next_attempt_ms INTEGER NOT NULL,
    status INTEGER NOT NULL,
    error_domain INTEGER NOT NULL,
    error_detail INTEGER NOT NULL,
    error_message TEXT,
    http_status INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    url TEXT,
    redirects INTEGER NOT NULL,
    domain_lookup_us INTEGER,
    connect_us INTEGER,
    secure_connection_us INTEGER,
    request_start_us INTEGER,
    request_end_us INTEGER,
    response_start_us INTEGER,
    response_end_us INTEGER,
    protocol TEXT,
    reused_connection INTEGER NOT NULL,
    proxy_connection INTEGER NOT NULL,
    local_address TEXT,
    local_port INTEGER NOT NULL,
    remote_address TEXT,
    remote_port INTEGER NOT NULL,
    tls_version TEXT,
    tls_cipher TEXT,
    request_header_bytes INTEGER NOT NULL,
    request_body_bytes INTEGER NOT NULL,
    response_header_bytes INTEGER NOT NULL,
    response_body_bytes INTEGER NOT NULL,
    PRIMARY KEY (task_id, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "attempts" VALUES(2,1,1,0,0,0,0,NULL,200,0,10240,1795298469359,NULL,0,30,167,NULL,282,282,4158,4357,'http/1.1',0,0,'127.0.0.1',56050,'127.0.0.1',47013,NULL,NULL,88,0,243,10240);
INSERT INTO "attempts" VALUES(4,1,1,0,0,0,0,NULL,200,0,10240,1795298469530,NULL,0,NULL,NULL,NULL,95,95,12600,12788,'http/1.1',1,0,'127.0.0.1',56050,'127.0.0.1',47013,NULL,NULL,87,0,243,10240);
INSERT INTO "attempts" VALUES(5,1,1,0,0,0,0,NULL,200,0,10240,1795298469674,NULL,0,NULL,NULL,NULL,147,147,10010,10097,'http/1.1',1,0,'127.0.0.1',56050,'127.0.0.1',47013,NULL,NULL,107,0,243,10240);
INSERT INTO "attempts" VALUES(6,1,3,0,55,4,401,'the server @ORIGIN@ asks for a credential for its realm "kept", and none was given',401,0,0,1795298469674,NULL,0,9,266,NULL,296,296,9516,9737,'http/1.1',0,0,'127.0.0.1',56052,'127.0.0.1',47013,NULL,NULL,112,0,159,0);
INSERT INTO "attempts" VALUES(6,2,1,0,0,0,0,NULL,200,0,10240,1795298469755,NULL,0,NULL,NULL,NULL,101,101,468,580,'http/1.1',1,0,'127.0.0.1',56050,'127.0.0.1',47013,NULL,NULL,155,0,243,10240);
INSERT INTO "attempts" VALUES(7,1,1,0,47,4,404,'the server answered with status 404',404,0,0,1795298469674,NULL,0,7,195,NULL,212,212,10855,11325,'http/1.1',0,0,'127.0.0.1',56060,'127.0.0.1',47013,NULL,NULL,109,0,145,22);
INSERT INTO "attempts" VALUES(8,1,1,0,0,0,0,NULL,201,0,0,1795298469675,NULL,0,7,105,NULL,123,184,123,11389,'http/1.1',0,0,'127.0.0.1',56064,'127.0.0.1',47013,NULL,NULL,129,16,116,7);
INSERT INTO "attempts" VALUES(10,1,4,0,0,0,0,NULL,200,0,3000,1795298469866,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,0,NULL,0,NULL,NULL,0,0,0,3000);
INSERT INTO "attempts" VALUES(11,1,3,0,55,4,401,'the server @ORIGIN@ asks for a credential for its realm "secret", and did not accept the one that was sent',401,0,0,1795298469866,NULL,0,NULL,NULL,NULL,42,42,31364,31408,'http/1.1',1,0,'127.0.0.1',56052,'127.0.0.1',47013,NULL,NULL,152,0,161,0);
INSERT INTO "attempts" VALUES(12,1,2,1795384869898,47,4,503,'the server answered with status 503',503,0,0,1795298469866,NULL,0,NULL,NULL,NULL,24,24,31266,31300,'http/1.1',1,0,'127.0.0.1',56060,'127.0.0.1',47013,NULL,NULL,150,0,148,6);
CREATE TABLE bodies_to_return (
    name TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    task_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE body_leftovers (
    name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE body_parts (
    task_id INTEGER NOT NULL REFERENCES tasks ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT,
    file TEXT,
    device INTEGER,
    inode INTEGER,
    size INTEGER,
    modified_ns INTEGER,
    value BLOB,
    file_name TEXT,
    media_type TEXT,
    -- Name in the store's folder of bodies; then device and inode are those of that file, and 0 for a copy.
    stored TEXT,
    PRIMARY KEY (task_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "body_parts" VALUES(16,0,'title',NULL,NULL,NULL,NULL,NULL,X'486F6C6964617973',NULL,NULL,NULL);
INSERT INTO "body_parts" VALUES(16,1,'photo','@PLACE@/files/snapshot',0,0,14,1795298469493317325,NULL,'snapshot','application/octet-stream','a877540d6139a04b-3s');
INSERT INTO "body_parts" VALUES(17,0,NULL,'@PLACE@/files/consumed',65024,6759290,14,1795298469493224197,NULL,NULL,NULL,'a877540d6139a04b-4');
CREATE TABLE challenges (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    kind INTEGER NOT NULL,
    origin TEXT NOT NULL,
    realm TEXT NOT NULL DEFAULT '',
    has_realm INTEGER NOT NULL,
    schemes INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    opened_ms INTEGER NOT NULL,
    told INTEGER NOT NULL DEFAULT 0, task_id INTEGER,
    UNIQUE (session_id, kind, origin, has_realm, realm)
) STRICT;
INSERT INTO "challenges" VALUES(2,4,1,'@ORIGIN@','secret',1,1,0,1795298469898,0,NULL);
CREATE TABLE checkpoints (
    task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
    entity_tag TEXT,
    last_modified TEXT,
    final_url TEXT NOT NULL,
    size INTEGER,
    synced_offset INTEGER NOT NULL,
    boot_id TEXT NOT NULL
, digest TEXT, content_encoding TEXT, file_name TEXT, part_device INTEGER, part_inode INTEGER, part_length INTEGER, part_checksum INTEGER, synced_checksum INTEGER) STRICT;
INSERT INTO "checkpoints" VALUES(10,'"slow-1"',NULL,'@ORIGIN@/slow',10240,3000,'00000000-0000-4000-8000-000000000000',NULL,NULL,NULL,65024,6759294,3000,2946842858,2946842858);
CREATE TABLE clients (
    id INTEGER PRIMARY KEY,
    high INTEGER NOT NULL,
    low INTEGER NOT NULL,
    process_id INTEGER NOT NULL,
    start_time INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    UNIQUE (high, low)
) STRICT;
CREATE TABLE constraints (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    preset INTEGER NOT NULL,
    requires_external_power INTEGER NOT NULL,
    requires_unmetered INTEGER NOT NULL,
    networks INTEGER NOT NULL,
    minimum_battery_percent INTEGER NOT NULL,
    maximum_thermal_state INTEGER NOT NULL,
    maximum_cpu_pressure_percent INTEGER NOT NULL,
    maximum_io_pressure_percent INTEGER NOT NULL,
    maximum_memory_pressure_percent INTEGER NOT NULL,
    minimum_bytes_per_second INTEGER NOT NULL,
    quiet_hours TEXT NOT NULL,
    is_launched INTEGER NOT NULL,
    is_past_latest_start INTEGER NOT NULL,
    UNIQUE (session_id, preset, requires_external_power, requires_unmetered, networks, minimum_battery_percent,
        maximum_thermal_state, maximum_cpu_pressure_percent, maximum_io_pressure_percent,
        maximum_memory_pressure_percent, minimum_bytes_per_second, quiet_hours, is_launched,
        is_past_latest_start)
) STRICT;
INSERT INTO "constraints" VALUES(1,3,1,0,1,3,15,2,91,92,93,1000,'sun 03:00-03:30',0,0);
INSERT INTO "constraints" VALUES(2,4,-1,-1,0,-1,5,-1,-1,-1,-1,0,'',0,0);
CREATE TABLE consumed (
    path TEXT PRIMARY KEY,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE consumers (
    session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    client_id INTEGER NOT NULL REFERENCES clients ON DELETE CASCADE,
    handle INTEGER NOT NULL
) STRICT;
CREATE TABLE cookies (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    cookie TEXT NOT NULL,
    PRIMARY KEY (session_id, cookie)
) STRICT, WITHOUT ROWID;
INSERT INTO "cookies" VALUES(4,'127.0.0.1	FALSE	/	FALSE	4102444800	visit	first');
CREATE TABLE delivered (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    idempotency_key TEXT NOT NULL,
    task_id INTEGER NOT NULL,
    round INTEGER NOT NULL,
    PRIMARY KEY (session_id, idempotency_key)
) STRICT, WITHOUT ROWID;
INSERT INTO "delivered" VALUES(4,'first',4,1);
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions,
    task_id INTEGER UNIQUE REFERENCES tasks ON DELETE CASCADE,
    kind INTEGER NOT NULL,
    round INTEGER NOT NULL,
    time_ms INTEGER NOT NULL
, challenge_id INTEGER, group_name TEXT, succeeded INTEGER, failed INTEGER, cancelled INTEGER, activity TEXT) STRICT;
INSERT INTO "events" VALUES(1,2,2,1,1,1795298469366,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(2,2,NULL,2,1,1795298469366,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(4,4,NULL,2,1,1795298469547,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(6,4,7,1,2,1795298469686,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(7,4,NULL,4,2,1795298469686,NULL,'pair',0,1,0,NULL);
INSERT INTO "events" VALUES(8,4,8,1,2,1795298469694,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(9,4,5,1,2,1795298469703,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(10,4,NULL,4,2,1795298469703,NULL,'album',1,0,0,NULL);
INSERT INTO "events" VALUES(11,4,6,1,2,1795298469779,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(12,4,NULL,2,2,1795298469779,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(13,4,9,1,3,1795298469881,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(14,4,NULL,4,3,1795298469881,NULL,'pair',0,0,1,NULL);
INSERT INTO "events" VALUES(15,4,NULL,3,3,1795298469898,2,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(16,4,NULL,5,3,1795298470994,NULL,NULL,NULL,NULL,NULL,'upkeep');
CREATE TABLE groups (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    name TEXT NOT NULL,
    live_tasks INTEGER NOT NULL DEFAULT 0 CHECK (live_tasks >= 0),
    -- Ends since it last finished.
    succeeded INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session_id, name)
) STRICT;
INSERT INTO "groups" VALUES(1,3,'album',1,0,0,0);
INSERT INTO "groups" VALUES(2,4,'album',1,0,0,0);
INSERT INTO "groups" VALUES(3,4,'pair',0,0,0,0);
CREATE TABLE history (
    task_id INTEGER NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    round INTEGER NOT NULL,
    state INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    url TEXT NOT NULL,
    destination TEXT,
    path TEXT,
    idempotency_key TEXT,
    user_data BLOB,
    group_name TEXT,
    priority INTEGER NOT NULL,
    status INTEGER NOT NULL,
    error_domain INTEGER NOT NULL,
    error_detail INTEGER NOT NULL,
    error_message TEXT,
    http_status INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    size INTEGER NOT NULL,
    enqueued_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL, constraints_id INTEGER NOT NULL DEFAULT 0, lane_id INTEGER NOT NULL DEFAULT 0, earliest_start_ms INTEGER, latest_start_ms INTEGER, expected_bytes_received INTEGER, expected_bytes_sent INTEGER, start_delayed_ms INTEGER,
    PRIMARY KEY (session_id, task_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "history" VALUES(4,4,1,4,1,'@ORIGIN@/first','@PLACE@/files/first','@PLACE@/files/first','first',NULL,NULL,0,0,0,0,NULL,200,1,10240,1795298469514,1795298469547,0,4,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE intents (
    task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL
, file_name TEXT) STRICT;
CREATE TABLE kept_answers (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    kind INTEGER NOT NULL,
    origin TEXT NOT NULL,
    realm TEXT NOT NULL DEFAULT '',
    has_realm INTEGER NOT NULL,
    user TEXT,
    password TEXT,
    headers BLOB,
    expires_ms INTEGER,
    -- The challenge that it has answered, and what that had offered.
    challenge_id INTEGER NOT NULL,
    schemes INTEGER NOT NULL,
    PRIMARY KEY (session_id, kind, origin, has_realm, realm)
) STRICT, WITHOUT ROWID;
INSERT INTO "kept_answers" VALUES(4,1,'@ORIGIN@','kept',1,'ann','kept secret',NULL,NULL,1,1);
CREATE TABLE lanes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    scheme TEXT NOT NULL,
    server TEXT NOT NULL,
    port INTEGER NOT NULL,
    UNIQUE (session_id, server, port, scheme)
) STRICT;
INSERT INTO "lanes" VALUES(1,1,'http','127.0.0.1',47013);
INSERT INTO "lanes" VALUES(2,2,'http','127.0.0.1',47013);
INSERT INTO "lanes" VALUES(3,3,'http','127.0.0.1',47013);
INSERT INTO "lanes" VALUES(5,4,'http','127.0.0.1',47013);
CREATE TABLE launched_sessions (
    session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    application TEXT NOT NULL REFERENCES launches ON DELETE CASCADE,
    -- Only because answers to its challenges did not serve.
    is_repeated INTEGER NOT NULL
) STRICT;
INSERT INTO "launched_sessions" VALUES(2,'org.example.photos',0);
INSERT INTO "launched_sessions" VALUES(4,'org.example.photos',0);
CREATE TABLE launches (
    application TEXT PRIMARY KEY,
    program TEXT NOT NULL,
    arguments BLOB,
    environment BLOB,
    working_directory TEXT,
    attach_timeout_ms INTEGER NOT NULL,
    first_delay_ms INTEGER NOT NULL,
    longest_delay_ms INTEGER NOT NULL,
    maximum_launches INTEGER NOT NULL,
    -- In a row without completing.
    launches INTEGER NOT NULL DEFAULT 0,
    due_boot_ms INTEGER,
    error_message TEXT,
    -- The launch that is not over: its number, secret and process.
    launch_id INTEGER,
    secret INTEGER,
    process_id INTEGER,
    start_time INTEGER,
    boot_id TEXT,
    unit TEXT,
    started_ms INTEGER,
    has_attached INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO "launches" VALUES('org.example.photos','/bin/false',X'0C0000002D2D6261636B67726F756E640900000074776F20776F726473',X'0800000050484F544F533D31','/tmp',50000,90000,7200000,5,1,36700053,'the launched program ended before it attached a session',5,-7546462917298000798,NULL,NULL,NULL,NULL,1795298474707,0);
CREATE TABLE leftovers (
    task_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    destination TEXT,
    part INTEGER NOT NULL,
    PRIMARY KEY (task_id, part)
) STRICT, WITHOUT ROWID;
CREATE TABLE limits (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    bytes_per_second INTEGER,
    maximum_running_tasks INTEGER NOT NULL,
    maximum_connections INTEGER NOT NULL,
    connections_per_origin INTEGER
) STRICT;
INSERT INTO "limits" VALUES(1,50000000,100,120,8);
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('boot_id','00000000-0000-4000-8000-000000000000');
INSERT INTO "meta" VALUES('clock','1795298469126 36604456 00000000-0000-4000-8000-000000000000');
INSERT INTO "meta" VALUES('first_task_of_boot','1');
INSERT INTO "meta" VALUES('launches','5');
INSERT INTO "meta" VALUES('tag','a61d7ab7');
CREATE TABLE networks (
    name TEXT PRIMARY KEY,
    metered INTEGER,
    month_starts_on INTEGER NOT NULL,
    daily_budget INTEGER,
    monthly_budget INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "networks" VALUES('Café',1,20,500000000,5000000000);
CREATE TABLE refreshed_headers (
    lane_id INTEGER PRIMARY KEY REFERENCES lanes ON DELETE CASCADE,
    challenge_id INTEGER NOT NULL,
    through_task_id INTEGER NOT NULL,
    headers BLOB,
    expires_ms INTEGER,
    is_declined INTEGER NOT NULL
) STRICT;
CREATE TABLE refreshed_requests (
    task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
    challenge_id INTEGER NOT NULL,
    url TEXT,
    headers BLOB,
    expires_ms INTEGER,
    is_declined INTEGER NOT NULL
) STRICT;
CREATE TABLE request_options (
    task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
    method TEXT,
    "group" TEXT,
    checksum TEXT,
    expected_size INTEGER,
    refresh INTEGER NOT NULL,
    expires_ms INTEGER,
    if_changed INTEGER NOT NULL,
    named_by_server INTEGER NOT NULL,
    ignores_digests INTEGER NOT NULL,
    maximum_attempts INTEGER,
    first_retry_delay_ms INTEGER,
    longest_retry_delay_ms INTEGER,
    retry_jitter_percent INTEGER,
    retry_errors INTEGER,
    retries_unsafe_methods INTEGER,
    retry_statuses TEXT,
    accepted_statuses TEXT,
    request_timeout_ms INTEGER,
    resource_timeout_ms INTEGER,
    http_version INTEGER,
    redirects INTEGER,
    maximum_redirects INTEGER,
    maximum_size INTEGER,
    bytes_per_second INTEGER,
    -- NULL: there is no body.
    body_source INTEGER,
    body_size INTEGER,
    body BLOB
, earliest_start_ms INTEGER, latest_start_ms INTEGER, expected_bytes_received INTEGER, expected_bytes_sent INTEGER, start_delayed_ms INTEGER) STRICT;
INSERT INTO "request_options" VALUES(3,NULL,'album','sha-256:abababababababababababababababababababababababababababababababab',4321,2,4102444800000,0,0,1,9,1500,70000,20,5,1,'500','200,404',11000,9000000000,1,1,3,999999,5000000,NULL,NULL,NULL,4102444800000,4102444805000,5000,1000,NULL);
INSERT INTO "request_options" VALUES(5,NULL,'album',NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "request_options" VALUES(7,NULL,'pair',NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "request_options" VALUES(8,'PUT',NULL,NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,16,X'6120626F6479206F662062797465730A',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "request_options" VALUES(9,NULL,'pair',NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "request_options" VALUES(13,NULL,'album',NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,4102444800000,NULL,NULL,NULL,NULL);
INSERT INTO "request_options" VALUES(15,'PUT',NULL,NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,19,X'627974657320696E207468652073746F72650A',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "request_options" VALUES(16,NULL,NULL,NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2000000,1,293,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "request_options" VALUES(17,NULL,NULL,NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2,14,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE requests (
    task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
    url TEXT NOT NULL,
    directory_device INTEGER,
    directory_inode INTEGER,
    if_exists INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    starts_suspended INTEGER NOT NULL,
    mode INTEGER NOT NULL,
    headers BLOB,
    user_data BLOB
, has_options INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "requests" VALUES(1,'@ORIGIN@/parting',65024,6759279,0,0,1,420,NULL,NULL,0);
INSERT INTO "requests" VALUES(2,'@ORIGIN@/single',65024,6759279,0,0,0,420,NULL,NULL,0);
INSERT INTO "requests" VALUES(3,'@ORIGIN@/everything',65024,6759279,1,50,1,416,X'0D000000417574686F72697A6174696F6E080000004265617265722031',X'00FF616E79206279746573',1);
INSERT INTO "requests" VALUES(5,'@ORIGIN@/done',65024,6759279,0,0,0,420,NULL,X'646F6E65',1);
INSERT INTO "requests" VALUES(6,'@ORIGIN@/kept-file',NULL,NULL,0,0,0,420,NULL,NULL,0);
INSERT INTO "requests" VALUES(7,'@ORIGIN@/absent',65024,6759279,0,0,0,420,NULL,NULL,1);
INSERT INTO "requests" VALUES(8,'@ORIGIN@/upload',NULL,NULL,0,0,0,420,NULL,NULL,1);
INSERT INTO "requests" VALUES(9,'@ORIGIN@/cancelled',65024,6759279,0,0,1,420,NULL,NULL,1);
INSERT INTO "requests" VALUES(10,'@ORIGIN@/slow',65024,6759279,0,3,0,420,NULL,NULL,0);
INSERT INTO "requests" VALUES(11,'@ORIGIN@/secret',65024,6759279,0,0,0,420,NULL,NULL,0);
INSERT INTO "requests" VALUES(12,'@ORIGIN@/busy',65024,6759279,0,0,0,420,NULL,NULL,0);
INSERT INTO "requests" VALUES(13,'@ORIGIN@/later',65024,6759279,0,0,0,420,NULL,NULL,1);
INSERT INTO "requests" VALUES(14,'@ORIGIN@/kept-again',65024,6759279,0,0,1,420,NULL,NULL,0);
INSERT INTO "requests" VALUES(15,'@ORIGIN@/bytes',NULL,NULL,0,0,1,420,NULL,NULL,1);
INSERT INTO "requests" VALUES(16,'@ORIGIN@/form',NULL,NULL,0,0,1,420,NULL,NULL,1);
INSERT INTO "requests" VALUES(17,'@ORIGIN@/consumed',NULL,NULL,0,0,1,420,NULL,NULL,1);
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    application TEXT NOT NULL,
    identifier TEXT NOT NULL,
    connections_per_origin INTEGER NOT NULL,
    maximum_running_tasks INTEGER NOT NULL,
    maximum_attempts INTEGER,
    first_retry_delay_ms INTEGER NOT NULL,
    longest_retry_delay_ms INTEGER NOT NULL,
    request_timeout_ms INTEGER NOT NULL,
    resource_timeout_ms INTEGER NOT NULL,
    ca_file TEXT,
    created_ms INTEGER NOT NULL,
    round INTEGER NOT NULL DEFAULT 0,
    round_open INTEGER NOT NULL DEFAULT 0,
    live_tasks INTEGER NOT NULL DEFAULT 0 CHECK (live_tasks >= 0),
    events_waiting INTEGER NOT NULL DEFAULT 0 CHECK (events_waiting >= 0),
    newest_event INTEGER NOT NULL DEFAULT 0,
    invalidating INTEGER NOT NULL DEFAULT 0, sends_launch_events INTEGER NOT NULL DEFAULT 1, asks_for_credentials INTEGER NOT NULL DEFAULT 0, launch_if_stopped_ms INTEGER NOT NULL DEFAULT 0, creator_high INTEGER, creator_low INTEGER, creator_handle INTEGER, retry_jitter_percent INTEGER NOT NULL DEFAULT 50, retry_errors INTEGER NOT NULL DEFAULT 63, retries_unsafe_methods INTEGER NOT NULL DEFAULT 0, retry_statuses TEXT NOT NULL DEFAULT '408,429,500,502-504', accepted_statuses TEXT NOT NULL DEFAULT '200-299', http_version INTEGER NOT NULL DEFAULT 0, redirects INTEGER NOT NULL DEFAULT 1, maximum_redirects INTEGER NOT NULL DEFAULT 20, maximum_size INTEGER, headers BLOB, bytes_per_second INTEGER, proxy TEXT, proxy_user TEXT, proxy_password TEXT, no_proxy TEXT, cookies INTEGER NOT NULL DEFAULT 1, minimum_tls INTEGER NOT NULL DEFAULT 12, client_certificate TEXT, client_key TEXT, pinned_public_keys TEXT, history_limit INTEGER DEFAULT 1000, history_count INTEGER NOT NULL DEFAULT 0, preset INTEGER, requires_external_power INTEGER, requires_unmetered INTEGER, networks INTEGER, minimum_battery_percent INTEGER, maximum_thermal_state INTEGER, maximum_cpu_pressure_percent INTEGER, maximum_io_pressure_percent INTEGER, maximum_memory_pressure_percent INTEGER, minimum_bytes_per_second INTEGER, quiet_hours TEXT, slow_after_ms INTEGER NOT NULL DEFAULT 60000, slow_pause_ms INTEGER NOT NULL DEFAULT 300000, discretionary_if_launched INTEGER NOT NULL DEFAULT 0, daily_budget INTEGER, monthly_budget INTEGER, tolerances INTEGER NOT NULL DEFAULT 0,
    UNIQUE (application, identifier)
) STRICT;
INSERT INTO "sessions" VALUES(1,'org.example.photos','leaving',6,64,NULL,1000,600000,60000,604800000,NULL,1795298469234,1,1,1,0,0,1,1,0,0,-5482461225639953453,3706603158589495578,1,50,63,0,'408,425,429,500,502-504','200-299',0,1,20,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,12,NULL,NULL,NULL,1000,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,60000,300000,0,NULL,NULL,0);
INSERT INTO "sessions" VALUES(2,'org.example.photos','finished',6,64,NULL,1000,600000,60000,604800000,NULL,1795298469298,1,0,0,2,2,0,1,0,0,-5482461225639953453,3706603158589495578,2,50,63,0,'408,425,429,500,502-504','200-299',0,1,20,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,12,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,60000,300000,0,NULL,NULL,0);
INSERT INTO "sessions" VALUES(3,'org.example.photos','everything',3,5,7,2000,90000,20000,8000000000,'@PLACE@/files/ca.pem',1795298469433,1,1,1,0,0,0,0,1,120000,-5482461225639953453,3706603158589495578,3,30,34,1,'503','200-204',2,2,4,1000000000,X'05000000582D546167030000006F6E65',3000000,'http://127.0.0.1:9','ann','a secret','localhost',2,13,'@PLACE@/files/client.pem','@PLACE@/files/key.pem','sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',17,0,2,1,0,33,40,1,81,82,83,2000,'mon-fri 01:00-02:00',70000,310000,1,600000000,0,3);
INSERT INTO "sessions" VALUES(4,'org.example.photos','transfers',6,64,NULL,1000,600000,60000,315360000000,NULL,1795298469450,3,1,8,12,16,0,1,1,0,-5482461225639953453,3706603158589495578,4,50,63,0,'408,425,429,500,502-504','200-299',0,1,20,NULL,NULL,NULL,NULL,NULL,NULL,NULL,3,12,NULL,NULL,NULL,1000,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,60000,300000,0,NULL,NULL,0);
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions,
    lane_id INTEGER NOT NULL REFERENCES lanes,
    round INTEGER NOT NULL,
    state INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    due_boot_ms INTEGER,
    due_reason INTEGER NOT NULL DEFAULT 0,
    enqueued_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    attempts_without_progress INTEGER NOT NULL DEFAULT 0,
    bytes_received INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0,
    http_status INTEGER NOT NULL DEFAULT 0,
    status INTEGER NOT NULL DEFAULT 0,
    error_domain INTEGER NOT NULL DEFAULT 0,
    error_detail INTEGER NOT NULL DEFAULT 0,
    error_message TEXT,
    idempotency_key TEXT,
    destination TEXT,
    -- Where the file of a succeeded task lies when that is neither its destination nor its place in the store.
    path TEXT, challenge_id INTEGER, furthest_offset INTEGER NOT NULL DEFAULT 0, group_id INTEGER, task_kind INTEGER NOT NULL DEFAULT 1, bytes_sent INTEGER NOT NULL DEFAULT 0, is_under_way INTEGER NOT NULL DEFAULT 0, suspended_ms INTEGER NOT NULL DEFAULT 0, suspended_since_ms INTEGER, mismatches INTEGER NOT NULL DEFAULT 0, constraints_id INTEGER NOT NULL DEFAULT 0, latest_start_ms INTEGER, own_end_ms INTEGER, part INTEGER NOT NULL DEFAULT 0,
    CHECK ((state >= 4) = (ended_ms IS NOT NULL))
) STRICT;
INSERT INTO "tasks" VALUES(1,1,1,1,3,0,NULL,0,1795298469263,NULL,0,0,0,0,0,0,0,0,NULL,NULL,'@PLACE@/files/parting',NULL,NULL,0,NULL,1,0,0,0,1795298469263,0,0,NULL,NULL,507695920155076959);
INSERT INTO "tasks" VALUES(2,2,2,1,4,0,NULL,0,1795298469346,1795298469366,1,0,10240,10240,200,0,0,0,NULL,NULL,'@PLACE@/files/single',NULL,NULL,0,NULL,1,0,0,0,NULL,0,0,NULL,NULL,-5709366887740479167);
INSERT INTO "tasks" VALUES(3,3,3,1,3,50,NULL,0,1795298469438,NULL,0,0,0,0,0,0,0,0,NULL,'a key','@PLACE@/files/everything',NULL,NULL,0,1,1,0,0,0,1795298469438,0,1,4102444805000,1804298469438,1825457542363393787);
INSERT INTO "tasks" VALUES(5,4,5,2,4,0,NULL,0,1795298469653,1795298469703,1,0,10240,10240,200,0,0,0,NULL,'done','@PLACE@/files/done',NULL,NULL,0,2,1,0,0,0,NULL,0,0,NULL,NULL,-8404678527666595811);
INSERT INTO "tasks" VALUES(6,4,5,2,4,0,NULL,0,1795298469653,1795298469779,2,0,10240,10240,200,0,0,0,NULL,NULL,NULL,NULL,1,0,NULL,1,0,0,0,NULL,0,0,NULL,NULL,8591713366934996067);
INSERT INTO "tasks" VALUES(7,4,5,2,5,0,NULL,0,1795298469653,1795298469686,1,0,22,0,404,47,4,404,'the server answered with status 404',NULL,'@PLACE@/files/absent',NULL,NULL,0,3,1,0,0,0,NULL,0,0,NULL,NULL,-7875116338493081402);
INSERT INTO "tasks" VALUES(8,4,5,2,4,0,NULL,0,1795298469653,1795298469694,1,0,7,0,201,0,0,0,NULL,NULL,NULL,NULL,NULL,0,NULL,2,16,0,0,NULL,0,0,NULL,NULL,2906124384101619273);
INSERT INTO "tasks" VALUES(9,4,5,3,6,0,NULL,0,1795298469854,1795298469881,0,0,0,0,0,40,0,0,NULL,NULL,'@PLACE@/files/cancelled',NULL,NULL,0,3,1,0,0,0,1795298469854,0,0,NULL,NULL,-6114530559874489884);
INSERT INTO "tasks" VALUES(10,4,5,3,3,3,NULL,0,1795298469854,NULL,1,0,3000,0,0,0,0,0,NULL,NULL,'@PLACE@/files/slow',NULL,NULL,3000,NULL,1,0,0,0,1795298471042,0,0,NULL,NULL,3384420185105222946);
INSERT INTO "tasks" VALUES(11,4,5,3,1,0,315396605188,8,1795298469854,NULL,1,0,0,0,401,55,4,401,'the server @ORIGIN@ asks for a credential for its realm "secret", and did not accept the one that was sent',NULL,'@PLACE@/files/secret',NULL,2,0,NULL,1,0,0,0,NULL,0,0,NULL,NULL,-1598350846779662428);
INSERT INTO "tasks" VALUES(12,4,5,3,1,0,123005228,3,1795298469854,NULL,1,1,6,0,503,47,4,503,'the server answered with status 503',NULL,'@PLACE@/files/busy',NULL,NULL,0,NULL,1,0,0,0,NULL,0,0,NULL,NULL,1038194313337647867);
INSERT INTO "tasks" VALUES(13,4,5,3,1,-7,2307182935330,18,1795298469854,NULL,0,0,0,0,0,0,0,0,NULL,NULL,'@PLACE@/files/later',NULL,NULL,0,2,1,0,0,0,NULL,0,0,NULL,NULL,-4487941456079542535);
INSERT INTO "tasks" VALUES(14,4,5,3,3,0,NULL,0,1795298469854,NULL,0,0,0,0,0,0,0,0,NULL,NULL,'@PLACE@/files/again',NULL,NULL,0,NULL,1,0,0,0,1795298469854,0,0,NULL,NULL,-8270154971026331313);
INSERT INTO "tasks" VALUES(15,4,5,3,3,0,NULL,0,1795298469854,NULL,0,0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,0,NULL,2,0,0,0,1795298469854,0,2,NULL,NULL,-3757007172593870900);
INSERT INTO "tasks" VALUES(16,4,5,3,3,0,NULL,0,1795298469854,NULL,0,0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,0,NULL,2,0,0,0,1795298469854,0,0,NULL,NULL,413684903580196584);
INSERT INTO "tasks" VALUES(17,4,5,3,3,0,NULL,0,1795298469854,NULL,0,0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,0,NULL,2,0,0,0,1795298469854,0,0,NULL,NULL,-7774126509761076286);
CREATE TABLE usage (
    network TEXT NOT NULL,
    session_id INTEGER NOT NULL,
    day INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (network, session_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE validators (
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    destination TEXT NOT NULL,
    url TEXT NOT NULL,
    final_url TEXT NOT NULL,
    entity_tag TEXT,
    last_modified TEXT,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    PRIMARY KEY (session_id, destination)
) STRICT, WITHOUT ROWID;
INSERT INTO "validators" VALUES(4,'@PLACE@/files/first','@ORIGIN@/first','@ORIGIN@/first','"done-1"',NULL,6759291,10240,1795298469543776071);
CREATE TABLE waits (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    constraints_id INTEGER,
    lane_id INTEGER,
    task_id INTEGER,
    reason INTEGER NOT NULL,
    sentence TEXT NOT NULL,
    began_ms INTEGER NOT NULL,
    -- NULL: it lasts.
    ended_ms INTEGER
) STRICT;
INSERT INTO "waits" VALUES(1,4,NULL,NULL,6,8,'the server @ORIGIN@ asks for a credential for its realm "kept"',1795298469684,1795298469735);
CREATE INDEX tasks_by_state ON tasks (session_id, state);
CREATE INDEX tasks_by_due ON tasks (due_boot_ms) WHERE due_boot_ms IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_key ON tasks (session_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX events_by_session ON events (session_id);
CREATE INDEX events_of_finished_rounds ON events (session_id) WHERE kind = 2;
CREATE INDEX consumers_by_client ON consumers (client_id);
CREATE INDEX tasks_by_challenge ON tasks (challenge_id) WHERE challenge_id IS NOT NULL;
CREATE INDEX events_by_challenge ON events (challenge_id) WHERE challenge_id IS NOT NULL;
CREATE INDEX body_parts_stored ON body_parts (stored) WHERE stored IS NOT NULL;
CREATE INDEX tasks_by_group ON tasks (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX history_by_end ON history (session_id, ended_ms);
CREATE UNIQUE INDEX tasks_by_destination ON tasks (destination)
    WHERE destination IS NOT NULL AND ended_ms IS NULL AND substr(destination, -1) <> '/';
CREATE INDEX tasks_by_constraints ON tasks (constraints_id) WHERE constraints_id <> 0;
CREATE INDEX tasks_by_latest_start ON tasks (latest_start_ms) WHERE latest_start_ms IS NOT NULL;
CREATE INDEX tasks_by_own_end ON tasks (session_id, state, own_end_ms) WHERE own_end_ms IS NOT NULL;
CREATE INDEX tasks_by_age ON tasks (session_id, enqueued_ms + suspended_ms)
    WHERE state = 1 AND own_end_ms IS NULL;
CREATE INDEX tasks_by_turn ON tasks (lane_id, state, due_boot_ms, constraints_id, priority DESC, id);
CREATE INDEX request_options_rescheduled ON request_options (task_id) WHERE start_delayed_ms IS NOT NULL;
CREATE INDEX waits_of_sessions ON waits (session_id) WHERE task_id IS NULL;
CREATE INDEX waits_of_sessions_tasks ON waits (session_id) WHERE task_id IS NOT NULL;
CREATE INDEX waits_by_task ON waits (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX waits_that_last ON waits (id) WHERE ended_ms IS NULL;
CREATE INDEX activities_by_time ON activities (next_ms);
CREATE INDEX events_of_activities ON events (session_id, activity) WHERE kind = 5;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('sessions',4);
INSERT INTO "sqlite_sequence" VALUES('lanes',5);
INSERT INTO "sqlite_sequence" VALUES('tasks',17);
INSERT INTO "sqlite_sequence" VALUES('events',16);
INSERT INTO "sqlite_sequence" VALUES('groups',3);
INSERT INTO "sqlite_sequence" VALUES('constraints',2);
INSERT INTO "sqlite_sequence" VALUES('activities',2);
INSERT INTO "sqlite_sequence" VALUES('challenges',2);
INSERT INTO "sqlite_sequence" VALUES('waits',1);
COMMIT;
