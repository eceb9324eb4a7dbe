// The scripted server: its threads, its resources and their scripts.

#define _GNU_SOURCE
#include "origin.h"
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void lock(const bht_resource *resource) { pthread_mutex_lock(&resource->origin->lock); }

static void unlock(const bht_resource *resource) {
    pthread_cond_broadcast(&resource->origin->changed);
    pthread_mutex_unlock(&resource->origin->lock);
}

// ---- Threads: one for each connection

static void *run_connection(void *argument) {
    struct connection *connection = argument;
    struct origin *origin = connection->origin;
    serve_connection(connection);
    pthread_mutex_lock(&origin->lock);
    *connection->link = connection->next;
    if (connection->next) connection->next->link = connection->link;
    close(connection->socket);
    free(connection);
    pthread_cond_broadcast(&origin->ended);
    pthread_mutex_unlock(&origin->lock);
    return NULL;
}

static void accept_connection(struct origin *origin, int socket) {
    struct connection *connection = calloc(1, sizeof *connection);
    pthread_t thread;
    if (!connection) abort();
    pthread_mutex_lock(&origin->lock);
    *connection = (struct connection){origin->connections, &origin->connections, origin, socket, false, NULL};
    if (origin->connections) origin->connections->link = &connection->next;
    origin->connections = connection;
    if (pthread_create(&thread, NULL, run_connection, connection)) abort();
    pthread_detach(thread);
    pthread_mutex_unlock(&origin->lock);
}

static void *run_listener(void *argument) {
    struct origin *origin = argument;
    for (;;) {
        int socket = accept4(origin->listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket >= 0) {
            accept_connection(origin, socket);
        } else if (errno == EINVAL || errno == EBADF) { // the listener was shut down
            return NULL;
        }
    }
}

static bool listen_at_loopback(struct origin *origin) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    origin->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (origin->listener < 0 || bind(origin->listener, (struct sockaddr *)&address, size) ||
        listen(origin->listener, 128) || getsockname(origin->listener, (struct sockaddr *)&address, &size))
        return false;
    origin->port = ntohs(address.sin_port);
    snprintf(origin->url, sizeof origin->url, "http://" CONTROL_ADDRESS_TEXT ":%d", origin->port);
    return true;
}

bh_status bht_origin_open(bht_testbed *testbed, bh_error *error) {
    struct origin *origin = calloc(1, sizeof *origin);
    if (!origin) return bht_fail(error, BH_OUT_OF_RESOURCES, "there is no memory for the origin");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&origin->lock, NULL);
    pthread_cond_init(&origin->changed, &monotonic);
    pthread_cond_init(&origin->ended, NULL);
    int code = 0;
    if (!listen_at_loopback(origin) || (code = pthread_create(&origin->thread, NULL, run_listener, origin))) {
        bht_fail(error, BH_OUT_OF_RESOURCES, "the origin cannot be started: %s", strerror(code ? code : errno));
        if (origin->listener >= 0) close(origin->listener);
        free(origin);
        return BH_OUT_OF_RESOURCES;
    }
    testbed->origin = origin;
    testbed->control->port = origin->port;
    return BH_OK;
}

static void free_resource(bht_resource *resource) {
    while (resource->faults) {
        struct fault *fault = resource->faults;
        resource->faults = fault->next;
        free_fault(fault);
    }
    for (size_t i = 0; i < resource->log_count; i++) {
        free(resource->log[i]->head);
        free(resource->log[i]->body);
        free(resource->log[i]);
    }
    release_content(resource->content);
    free(resource->log);
    free(resource->authorization);
    free(resource->path);
    free(resource->url);
    free(resource);
}

void bht_origin_end_waits(struct origin *origin) {
    pthread_mutex_lock(&origin->lock);
    origin->is_closing = true;
    pthread_cond_broadcast(&origin->changed);
    pthread_mutex_unlock(&origin->lock);
}

void bht_origin_close(struct origin *origin) {
    shutdown(origin->listener, SHUT_RDWR);
    pthread_join(origin->thread, NULL);
    close(origin->listener);
    bht_origin_end_waits(origin);
    pthread_mutex_lock(&origin->lock);
    for (struct connection *one = origin->connections; one; one = one->next) shutdown(one->socket, SHUT_RDWR);
    while (origin->connections) pthread_cond_wait(&origin->ended, &origin->lock);
    pthread_mutex_unlock(&origin->lock);
    while (origin->resources) {
        bht_resource *resource = origin->resources;
        origin->resources = resource->next;
        free_resource(resource);
    }
    pthread_mutex_destroy(&origin->lock);
    pthread_cond_destroy(&origin->changed);
    pthread_cond_destroy(&origin->ended);
    free(origin);
}

bool bht_origin_is_idle(struct origin *origin, uint64_t *sum) {
    bool is_idle = true;
    pthread_mutex_lock(&origin->lock);
    for (struct connection *one = origin->connections; one; one = one->next) {
        int unread = 0, unsent = 0;
        ioctl(one->socket, SIOCINQ, &unread);
        ioctl(one->socket, SIOCOUTQ, &unsent);
        *sum = *sum * 31 + (uint64_t)unsent;
        // A receiver that takes no bytes at present, such as one with a limit of its rate, blocks the server.
        if (unread || (one->is_sending && !unsent)) is_idle = false;
    }
    pthread_mutex_unlock(&origin->lock);
    return is_idle;
}

// ---- Resources

void release_content(struct content *content) {
    if (content && !--content->references) free(content);
}

static struct content *make_content(const void *bytes, size_t size, uint64_t version) {
    struct content *content = malloc(sizeof *content + size);
    if (!content) abort();
    *content = (struct content){.references = 1, .version = version, .size = size};
    if (size) memcpy(content->bytes, bytes, size);
    return content;
}

bh_status bht_serve(bht_testbed *testbed, const char *path, const void *content, size_t size, bht_resource **result,
                    bh_error *error) {
    struct origin *origin = testbed->origin;
    if (!path || *path != '/' || (size && !content) || !result)
        return bht_fail(error, BH_INVALID_ARGUMENT, "a resource needs a path that begins with a slash, and a content");
    for (const char *next = path; *next; next++)
        if (*next <= ' ' || *next >= 127 || *next == '#')
            return bht_fail(error, BH_INVALID_ARGUMENT,
                            "the path has the byte 0x%02x, which a request cannot have; percent-encode it: %%%02X",
                            (uint8_t)*next, (uint8_t)*next);
    bht_resource *resource = calloc(1, sizeof *resource);
    if (!resource || !(resource->path = strdup(path)) || asprintf(&resource->url, "%s%s", origin->url, path) < 0)
        abort();
    resource->testbed = testbed;
    resource->origin = origin;
    resource->content = make_content(content, size, 1);
    resource->last_fault = &resource->faults;
    pthread_mutex_lock(&origin->lock);
    bht_resource **last = &origin->resources;
    while (*last && strcmp((*last)->path, path)) last = &(*last)->next;
    bool is_known = *last;
    if (!is_known) *last = resource;
    pthread_mutex_unlock(&origin->lock);
    if (is_known) {
        free_resource(resource);
        return bht_fail(error, BH_ALREADY_EXISTS, "the origin has the path %s already; replace its content", path);
    }
    *result = resource;
    return bht_succeed(error);
}

const char *bht_origin_url(const bht_testbed *testbed) { return testbed->origin->url; }
const char *bht_url(const bht_resource *resource) { return resource->url; }

void bht_replace(bht_resource *resource, const void *content, size_t size) {
    lock(resource);
    struct content *made = make_content(content, size, resource->content->version + 1);
    release_content(resource->content);
    resource->content = made;
    resource->sent = 0;
    unlock(resource);
}

static char *encode(const char *text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = strlen(text);
    char *result = calloc(1, (size + 2) / 3 * 4 + 1), *next = result;
    if (!result) abort();
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++) bits = bits << 8 | (i + j < size ? (uint8_t)text[i + j] : 0);
        for (size_t j = 0; j < 4; j++) *next++ = i + j > size ? '=' : digits[bits >> (18 - 6 * j) & 63];
    }
    return result;
}

void bht_require(bht_resource *resource, const char *user, const char *password) {
    char *pair = NULL, *encoded = NULL, *value = NULL;
    if (user) {
        bht_demand(!strchr(user, ':'), "bht_require: the user %s has a colon; give another one (RFC 7617)", user);
        if (asprintf(&pair, "%s:%s", user, password ? password : "") < 0) abort();
        encoded = encode(pair);
        if (asprintf(&value, "Basic %s", encoded) < 0) abort();
    }
    lock(resource);
    free(resource->authorization);
    resource->authorization = value;
    unlock(resource);
    free(pair);
    free(encoded);
}

// ---- The script

void free_fault(struct fault *fault) {
    free(fault->fields);
    free(fault);
}

static const struct fault nothing = {.drop_at = NOWHERE, .stall_at = NOWHERE, .wrong_at = NOWHERE};

static void append(bht_resource *resource, struct fault fault) {
    struct fault *made = malloc(sizeof *made);
    if (!made) abort();
    *made = fault;
    made->next = NULL;
    lock(resource);
    *resource->last_fault = made;
    resource->last_fault = &made->next;
    unlock(resource);
}

// A fault beyond the content would have no effect, and the test would pass.
static int64_t place_in(bht_resource *resource, const char *name, uint64_t at, uint64_t last) {
    lock(resource);
    uint64_t size = resource->content->size;
    unlock(resource);
    bht_demand(at < size + last, "%s: the content of %s has %llu bytes; byte %llu is beyond it", name, resource->path,
               (unsigned long long)size, (unsigned long long)at);
    return (int64_t)at;
}

// Whether the text is lines that end with \r\n, and that have a name, a colon and a value.
static bool are_fields(const char *text) {
    while (*text) {
        size_t line = strcspn(text, "\r\n"), name = strcspn(text, ":\r\n \t");
        if (!name || text[name] != ':' || strncmp(text + line, "\r\n", 2)) return false;
        text += line + 2;
    }
    return true;
}

static void append_status(bht_resource *resource, int status, char *fields) {
    enum { MOST = 4096 };
    struct fault fault = nothing;
    if (!fields) abort();
    bht_demand(status >= 200 && status <= 599, "bht_refuse: %d is not the status of a response; give 200 to 599",
               status);
    bht_demand(are_fields(fields) && strlen(fields) <= MOST,
               "a response: header fields are lines of a name, a colon and a value, with \\r\\n at their ends; "
               "all have at most %d bytes",
               MOST);
    fault.status = status;
    fault.fields = fields;
    append(resource, fault);
}

void bht_drop(bht_resource *resource, uint64_t at) {
    struct fault fault = nothing;
    fault.drop_at = place_in(resource, "bht_drop", at, 1);
    append(resource, fault);
}

void bht_stall(bht_resource *resource, uint64_t at) {
    struct fault fault = nothing;
    fault.stall_at = place_in(resource, "bht_stall", at, 1);
    append(resource, fault);
}

void bht_corrupt(bht_resource *resource, uint64_t at) {
    struct fault fault = nothing;
    fault.wrong_at = place_in(resource, "bht_corrupt", at, 0);
    append(resource, fault);
}

void bht_refuse(bht_resource *resource, int status, const char *fields) {
    append_status(resource, status, strdup(fields ? fields : ""));
}

void bht_redirect(bht_resource *resource, const char *target) {
    char *fields = NULL;
    bht_demand(!strpbrk(target, "\r\n"), "bht_redirect: the target has the end of a line; percent-encode it");
    if (asprintf(&fields, "Location: %s\r\n", target) < 0) abort();
    append_status(resource, 302, fields);
}

void bht_release(bht_resource *resource) {
    lock(resource);
    resource->releases++;
    // From now on, they have something to send, although their threads continue later: bht_pass waits for it.
    for (struct connection *one = resource->origin->connections; one; one = one->next)
        if (one->stalled == resource) one->is_sending = true;
    for (struct fault **link = &resource->faults; *link;) {
        struct fault *fault = *link;
        if (fault->stall_at == NOWHERE) {
            link = &fault->next;
            continue;
        }
        *link = fault->next;
        free_fault(fault);
    }
    resource->last_fault = &resource->faults;
    while (*resource->last_fault) resource->last_fault = &(*resource->last_fault)->next;
    unlock(resource);
}

// ---- What was seen

typedef uint64_t seen(const bht_resource *resource);

static uint64_t requests_of(const bht_resource *resource) { return resource->log_count; }
static uint64_t sent_of(const bht_resource *resource) { return resource->sent; }

static bh_status wait_until(bht_resource *resource, int32_t timeout, seen *number_of, uint64_t count, bh_error *error) {
    struct timespec deadline = bht_deadline(timeout);
    struct origin *origin = resource->origin;
    int code = 0;
    bht_begin_wait(resource->testbed);
    pthread_mutex_lock(&origin->lock);
    while (number_of(resource) < count && !origin->is_closing && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&origin->changed, &origin->lock, &deadline);
    uint64_t number = number_of(resource);
    pthread_mutex_unlock(&origin->lock);
    bh_status status = number >= count
                           ? bht_succeed(error)
                           : bht_time_out(resource->testbed, error, "%s has %s %llu of %llu %s", resource->path,
                                          number_of == sent_of ? "sent" : "got", (unsigned long long)number,
                                          (unsigned long long)count, number_of == sent_of ? "bytes" : "requests");
    bht_end_wait(resource->testbed);
    return status;
}

bh_status bht_wait_for_requests(bht_resource *resource, size_t count, int32_t timeout, bh_error *error) {
    return wait_until(resource, timeout, requests_of, count, error);
}

bh_status bht_wait_for_bytes(bht_resource *resource, uint64_t count, int32_t timeout, bh_error *error) {
    return wait_until(resource, timeout, sent_of, count, error);
}

size_t bht_request_count(bht_resource *resource) {
    lock(resource);
    size_t count = resource->log_count;
    unlock(resource);
    return count;
}

bool bht_request_at(bht_resource *resource, size_t index, bht_request *request) {
    if (!request || request->struct_size < sizeof *request) return false;
    lock(resource);
    bool is_known = index < resource->log_count;
    size_t size = request->struct_size;
    if (is_known) *request = resource->log[index]->request;
    request->struct_size = size;
    unlock(resource);
    return is_known;
}
