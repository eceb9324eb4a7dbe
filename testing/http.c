// The responses of the origin (RFC 9110 and 9112): what a client of files uses of HTTP/1.1.

#define _GNU_SOURCE
#include "origin.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { HEAD_LIMIT = 65536, BODY_LIMIT = 1 << 30 };

// The response to one request.
struct response {
    int status;
    const char *fields;
    struct content *content; // with a reference of its own; NULL: no body
    uint64_t first, end;     // the bytes of the content that are sent
    bool is_head;
    struct fault *fault; // or NULL
    uint64_t releases;   // of the resource, before the response
};

// ---- Reading a request

// The value of a field, without spaces around it, as new memory; NULL if the head does not have it.
static char *field(const char *head, const char *name) {
    size_t size = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, size) || line[size] != ':') continue;
        const char *first = line + size + 1, *end = strstr(first, "\r\n");
        while (first < end && isspace((unsigned char)*first)) first++;
        while (end > first && isspace((unsigned char)end[-1])) end--;
        return strndup(first, (size_t)(end - first));
    }
    return NULL;
}

static bool send_all(int socket, const void *bytes, size_t size) {
    for (size_t sent = 0; sent < size;) {
        ssize_t count = send(socket, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (count <= 0) return false;
        sent += (size_t)count;
    }
    return true;
}

// Reads a head, byte by byte where it ends: the bytes after it are the body. Returns NULL at the end of the connection.
static char *read_head(int socket) {
    char *head = calloc(1, HEAD_LIMIT + 1);
    if (!head) abort();
    for (size_t size = 0; size < HEAD_LIMIT;) {
        ssize_t count = recv(socket, head + size, HEAD_LIMIT - size, MSG_PEEK);
        if (count <= 0) break;
        head[size + (size_t)count] = 0;
        char *end = strstr(head + (size > 3 ? size - 3 : 0), "\r\n\r\n");
        size_t taken = end ? (size_t)(end + 4 - head) - size : (size_t)count;
        if (recv(socket, head + size, taken, MSG_WAITALL) != (ssize_t)taken) break;
        size += taken;
        head[size] = 0;
        if (end) return head;
    }
    free(head);
    return NULL;
}

// Reads the body of an upload. Returns false if the connection ended before.
static bool read_body(int socket, const char *head, struct logged *logged) {
    char *length = field(head, "Content-Length"), *expects = field(head, "Expect");
    size_t size = length ? strtoull(length, NULL, 10) : 0;
    bool is_read = size <= BODY_LIMIT;
    if (is_read && size) {
        if (expects) is_read = send_all(socket, "HTTP/1.1 100 Continue\r\n\r\n", 25);
        if (!(logged->body = malloc(size))) abort();
        is_read = is_read && recv(socket, logged->body, size, MSG_WAITALL) == (ssize_t)size;
        logged->request.body = logged->body;
        logged->request.body_size = size;
    }
    free(length);
    free(expects);
    return is_read;
}

static void free_logged(struct logged *logged) {
    free(logged->head);
    free(logged->body);
    free(logged);
}

// The method, which is the first word of the head, is followed by a zero in this copy.
static struct logged *read_request(int socket) {
    char *head = read_head(socket);
    if (!head) return NULL;
    struct logged *logged = calloc(1, sizeof *logged);
    size_t word = strcspn(head, " \r\n"), size = strlen(head) + 1;
    if (!logged || !(logged->head = malloc(size + word + 1))) abort();
    memcpy(logged->head, head, size);
    memcpy(logged->head + size, head, word);
    logged->head[size + word] = 0;
    logged->request.struct_size = sizeof logged->request;
    logged->request.head = logged->head;
    logged->request.method = logged->head + size;
    bool is_read = read_body(socket, head, logged);
    free(head);
    if (is_read) return logged;
    free_logged(logged);
    return NULL;
}

// ---- Choosing the response. The origin's lock is held.

static bht_resource *find(struct origin *origin, const char *head) {
    const char *path = head + strcspn(head, " ");
    if (*path) path++;
    size_t size = strcspn(path, " \r\n");
    for (bht_resource *one = origin->resources; one; one = one->next)
        if (strlen(one->path) == size && !memcmp(one->path, path, size)) return one;
    return NULL;
}

static void write_validators(const struct content *content, char tag[64], char date[64]) {
    snprintf(tag, 64, "\"version-%llu\"", (unsigned long long)content->version);
    time_t time = 1577836800 + (time_t)content->version * 60; // 2020
    struct tm parts;
    gmtime_r(&time, &parts);
    strftime(date, 64, "%a, %d %b %Y %H:%M:%S GMT", &parts);
}

static bool is_same(const char *head, const char *name, const char *tag, const char *date, bool default_value) {
    char *value = field(head, name);
    bool result = value ? strstr(value, tag) || !strcmp(value, date) || !strcmp(value, "*") : default_value;
    free(value);
    return result;
}

// Sets the range that the request asks for (RFC 9110, 14.2).
static void choose_range(const char *head, const char *tag, const char *date, struct response *response) {
    char *range = field(head, "Range"), *end;
    unsigned long long first, last = response->content->size - 1;
    if (range && !strncmp(range, "bytes=", 6) && isdigit((unsigned char)range[6]) && !strchr(range, ',') &&
        is_same(head, "If-Range", tag, date, true)) {
        first = strtoull(range + 6, &end, 10);
        if (*end == '-' && isdigit((unsigned char)end[1])) last = strtoull(end + 1, NULL, 10);
        if (last >= response->content->size) last = response->content->size - 1;
        response->status = first >= response->content->size || last < first ? 416 : 206;
        response->first = response->status == 206 ? first : 0;
        response->end = response->status == 206 ? last + 1 : 0;
    }
    free(range);
}

static struct fault *take_fault(bht_resource *resource) {
    struct fault *fault = resource->faults;
    if (!fault) return NULL;
    resource->faults = fault->next;
    if (!resource->faults) resource->last_fault = &resource->faults;
    return fault;
}

static bool is_authorized(const bht_resource *resource, const char *head) {
    if (!resource->authorization) return true;
    char *value = field(head, "Authorization");
    bool result = value && !strcmp(value, resource->authorization);
    free(value);
    return result;
}

static struct response choose(bht_resource *resource, const struct logged *logged) {
    const char *method = logged->request.method;
    struct response response = {.status = 404, .fields = ""};
    char tag[64], date[64];
    response.is_head = !strcmp(method, "HEAD");
    if (!resource) return response;
    if (!is_authorized(resource, logged->head)) {
        response.status = 401;
        response.fields = "WWW-Authenticate: Basic realm=\"test\"\r\n";
        return response;
    }
    response.fault = take_fault(resource);
    response.releases = resource->releases;
    if (response.fault && response.fault->status) {
        response.status = response.fault->status;
        response.fields = response.fault->fields;
        return response;
    }
    response.status = 200;
    if (!response.is_head && strcmp(method, "GET")) return response; // an upload
    write_validators(resource->content, tag, date);
    bool has_tags = strcasestr(logged->head, "\r\nIf-None-Match:");
    if (is_same(logged->head, has_tags ? "If-None-Match" : "If-Modified-Since", tag, date, false)) {
        response.status = 304;
        response.is_head = true;
    }
    response.content = resource->content;
    response.content->references++;
    response.end = response.content->size;
    if (response.status == 200) choose_range(logged->head, tag, date, &response);
    return response;
}

static void log_request(bht_resource *resource, struct logged *logged, const struct response *response) {
    char *range = field(logged->head, "Range");
    logged->request.offset = range && !strncmp(range, "bytes=", 6) ? strtoull(range + 6, NULL, 10) : 0;
    logged->request.status = response->status;
    free(range);
    if (!(resource->log = realloc(resource->log, (resource->log_count + 1) * sizeof *resource->log))) abort();
    resource->log[resource->log_count++] = logged;
}

// ---- Sending the response

static bool send_head(int socket, const struct response *response) {
    char text[8192], tag[64], date[64], range[128] = "";
    uint64_t size = response->end - response->first;
    const struct content *content = response->content;
    if (content) write_validators(content, tag, date);
    if (response->status == 206)
        snprintf(range, sizeof range, "Content-Range: bytes %llu-%llu/%llu\r\n", (unsigned long long)response->first,
                 (unsigned long long)response->end - 1, (unsigned long long)content->size);
    if (response->status == 416)
        snprintf(range, sizeof range, "Content-Range: bytes */%llu\r\n", (unsigned long long)content->size);
    int count = snprintf(text, sizeof text, "HTTP/1.1 %d Scripted\r\nContent-Length: %llu\r\n%s%s", response->status,
                         (unsigned long long)size, range, response->fields);
    if (count < (int)sizeof text - 300 && content)
        count += snprintf(text + count, sizeof text - (size_t)count,
                          "ETag: %s\r\nLast-Modified: %s\r\nAccept-Ranges: bytes\r\n", tag, date);
    count += snprintf(text + count, sizeof text - (size_t)count, "\r\n");
    return send_all(socket, text, (size_t)count);
}

// Waits at a stall. Returns false if the testbed is closed.
static bool wait_for_release(struct connection *connection, const bht_resource *resource, uint64_t releases) {
    struct origin *origin = connection->origin;
    pthread_mutex_lock(&origin->lock);
    if (resource->releases == releases) {
        connection->is_sending = false;
        connection->stalled = resource;
    }
    while (!origin->is_closing && resource->releases == releases) pthread_cond_wait(&origin->changed, &origin->lock);
    connection->stalled = NULL;
    connection->is_sending = true;
    bool result = !origin->is_closing;
    pthread_mutex_unlock(&origin->lock);
    return result;
}

static void note_sent(bht_resource *resource, const struct content *content, uint64_t at) {
    pthread_mutex_lock(&resource->origin->lock);
    if (resource->content == content && at > resource->sent) resource->sent = at;
    pthread_cond_broadcast(&resource->origin->changed);
    pthread_mutex_unlock(&resource->origin->lock);
}

// The end of the bytes that can be sent at once from `at`: the next place where something happens.
static uint64_t next_stop(const struct response *response, uint64_t at) {
    uint64_t stop = response->end < at + 65536 ? response->end : at + 65536;
    const struct fault *fault = response->fault;
    int64_t places[] = {fault ? fault->drop_at : NOWHERE, fault ? fault->stall_at : NOWHERE,
                        fault ? fault->wrong_at : NOWHERE,
                        fault && fault->wrong_at >= 0 ? fault->wrong_at + 1 : NOWHERE};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] > (int64_t)at && (uint64_t)places[i] < stop) stop = (uint64_t)places[i];
    return stop;
}

// Sends the bytes. Returns false if the connection must end.
static bool send_content(struct connection *connection, bht_resource *resource, const struct response *response) {
    const struct fault *fault = response->fault;
    const struct content *content = response->content;
    for (uint64_t at = response->first; at <= response->end; at = next_stop(response, at)) {
        if (fault && fault->drop_at >= 0 && (uint64_t)fault->drop_at <= at) return false;
        if (fault && fault->stall_at == (int64_t)at && !wait_for_release(connection, resource, response->releases))
            return false;
        if (at == response->end) return true;
        uint64_t stop = next_stop(response, at);
        uint8_t wrong = (uint8_t)~content->bytes[at];
        const uint8_t *bytes = fault && fault->wrong_at == (int64_t)at ? &wrong : content->bytes + at;
        if (!send_all(connection->socket, bytes, stop - at)) return false;
        note_sent(resource, content, stop);
    }
    return true;
}

void serve_connection(struct connection *connection) {
    struct origin *origin = connection->origin;
    for (bool goes_on = true; goes_on;) {
        struct logged *logged = read_request(connection->socket);
        if (!logged) return;
        pthread_mutex_lock(&origin->lock);
        connection->is_sending = true;
        bht_resource *resource = find(origin, logged->head);
        struct response response = choose(resource, logged);
        if (resource)
            log_request(resource, logged, &response);
        else
            free_logged(logged);
        pthread_cond_broadcast(&origin->changed);
        pthread_mutex_unlock(&origin->lock);
        goes_on = send_head(connection->socket, &response);
        if (goes_on && response.content && !response.is_head) goes_on = send_content(connection, resource, &response);
        pthread_mutex_lock(&origin->lock);
        connection->is_sending = false;
        release_content(response.content);
        pthread_mutex_unlock(&origin->lock);
        if (response.fault) free_fault(response.fault);
    }
    shutdown(connection->socket, SHUT_RDWR);
}
