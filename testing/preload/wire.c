// The messages between a daemon and its hosts (docs/wire.md): finds the replies to commands at which the daemon can
// die. A reply is sent when the command is stored.

#define _GNU_SOURCE
#include "preload.h"
#include <sys/socket.h>

enum { MOST = 1024, COMMANDS = 256, COMMAND = 2, REPLY = 66, ENQUEUE = 6, ACKNOWLEDGE = 8 };

// One direction of a connection: the begin of the present message, and how many of its bytes follow.
struct stream {
    uint8_t head[22]; // its length, its tag, two numbers, and the tag of the command
    uint32_t have, left;
};

// The commands of a connection that have no reply yet; the oldest may be forgotten.
static struct connection {
    struct stream in, out;
    struct {
        uint64_t sequence;
        bht_point point;
    } commands[COMMANDS];
    uint32_t next;
} *connections[MOST];

static void take_command(struct connection *connection, uint64_t sequence, uint8_t command) {
    bht_point point = command == ENQUEUE ? BHT_POINT_ENQUEUED : command == ACKNOWLEDGE ? BHT_POINT_ACKNOWLEDGED : 0;
    if (!point) return;
    uint32_t index = connection->next++ % COMMANDS;
    connection->commands[index].sequence = sequence;
    connection->commands[index].point = point;
}

static void take_reply(struct connection *connection, uint64_t sequence) {
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!connection->commands[i].point || connection->commands[i].sequence != sequence) continue;
        bht_point point = connection->commands[i].point;
        connection->commands[i].point = 0;
        reach(point);
    }
}

static uint64_t number(const uint8_t *bytes, size_t size) {
    uint64_t value = 0;
    while (size-- > 0) value = value << 8 | bytes[size];
    return value;
}

// Follows the bytes of one direction.
static void follow(struct connection *connection, struct stream *stream, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count;) {
        if (stream->have >= 4 && !stream->left) *stream = (struct stream){0};
        if (stream->have < sizeof stream->head && (stream->have < 4 || stream->left)) {
            if (stream->have >= 4) stream->left--;
            stream->head[stream->have++] = bytes[i++];
            if (stream->have == 4) stream->left = (uint32_t)number(stream->head, 4);
            if (stream->have == 22 && stream->head[4] == COMMAND)
                take_command(connection, number(stream->head + 5, 8), stream->head[21]);
            if (stream->have == 13 && stream->head[4] == REPLY) take_reply(connection, number(stream->head + 5, 8));
            continue;
        }
        size_t skipped = count - i < stream->left ? count - i : stream->left;
        i += skipped;
        stream->left -= (uint32_t)skipped;
    }
}

static struct connection *connection_of(int descriptor) {
    int domain = 0, type = 0;
    socklen_t size = sizeof domain;
    if (!control || descriptor < 0 || descriptor >= MOST) return NULL;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != AF_UNIX) return NULL;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_STREAM) return NULL;
    if (!connections[descriptor]) connections[descriptor] = calloc(1, sizeof *connections[descriptor]);
    return connections[descriptor];
}

void forget_connection(int descriptor) {
    if (descriptor < 0 || descriptor >= MOST) return;
    free(connections[descriptor]);
    connections[descriptor] = NULL;
}

ssize_t recv(int descriptor, void *bytes, size_t size, int flags) {
    ssize_t count = REAL(recv)(descriptor, bytes, size, flags);
    struct connection *connection = count > 0 && !(flags & MSG_PEEK) ? connection_of(descriptor) : NULL;
    if (connection) follow(connection, &connection->in, bytes, (size_t)count);
    return count;
}

ssize_t send_to_host(int descriptor, const void *bytes, size_t size, int flags) {
    struct connection *connection = connection_of(descriptor);
    if (!connection) return REAL(send)(descriptor, bytes, size, flags);
    // The daemon dies instead of the reply. The kernel may take a part of the bytes only.
    struct stream before = connection->out;
    follow(connection, &connection->out, bytes, size);
    ssize_t count = REAL(send)(descriptor, bytes, size, flags);
    if (count == (ssize_t)size) return count;
    connection->out = before;
    if (count > 0) follow(connection, &connection->out, bytes, (size_t)count);
    return count;
}
