/*
 * Forwards TCP connections, and simulates a network with a round-trip time and lost segments.
 *
 *   delay_proxy RTT_MS LOSS_PERCENT LISTENING_PORT:SERVER_PORT…      all on 127.0.0.1
 *
 * The bench does not use netem, because netem needs root and a kernel module. The proxy is written in C, because a
 * proxy in Python would use more processor time than the measured programs.
 *
 * The model: in both directions, bytes arrive half a round trip after they were sent. A new connection costs one round
 * trip before its first byte. The bytes of each read are divided into segments of 1,448 bytes. A lost segment arrives
 * one round trip later. TCP keeps the order, so all later bytes in the same direction of the connection wait for this
 * segment. The model has no congestion window, no limit of bandwidth, and no lost acknowledgements.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { SEGMENT = 1448, READ = 64 << 10, WINDOW = 8 << 20, PORTS = 8, EVENTS = 256 };

/* Bytes that arrive at the same time. An empty chunk means that the sender has closed the direction. */
struct chunk {
    struct chunk *next;
    int64_t due;
    size_t size, sent;
    char bytes[];
};

/* The bytes on the way from one socket of a link to the other socket. The chunks are in the order of their arrival
 * times. All times are in nanoseconds. */
struct direction {
    struct link *link;
    struct chunk *first, **end;
    size_t buffered;
    int64_t not_before; /* when the latest bytes so far arrive; the next bytes do not arrive earlier */
    size_t place;       /* position in the queue of timers, from 1; 0: not in the queue */
    int has_ended;      /* the sender has closed the direction */
    int is_full;        /* the receiver accepts no bytes now */
};

/* The target of an event of epoll: a socket of a link or, if `link` is NULL, a listening socket or the timer. */
struct source {
    struct link *link;
    int number, file, is_watched;
};

/* The connection from a client (socket 0), and the connection to the server (socket 1). Direction 0 is from socket 0 to
 * socket 1. */
struct link {
    struct source sources[2];
    struct direction directions[2];
    int64_t usable; /* when the client can send its first byte, after a round trip */
    int has_failed;
    struct link *next_failed;
};

static int64_t round_trip;
static uint64_t loss_limit, noise = 0x9e3779b97f4a7c15;
static int epoll, timer, server_ports[PORTS];
static struct direction **queue; /* a binary heap from index 1, by the time of the first chunk */
static size_t queue_size, queue_room;
static struct link *failed;

static void stop(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The queue of timers. */

static void put(size_t place, struct direction *direction) {
    queue[place] = direction;
    direction->place = place;
}

static void move_up(size_t place, struct direction *direction) {
    for (; place > 1 && queue[place / 2]->first->due > direction->first->due; place /= 2) put(place, queue[place / 2]);
    put(place, direction);
}

static void move_down(size_t place, struct direction *direction) {
    for (size_t child; (child = place * 2) <= queue_size; place = child) {
        if (child < queue_size && queue[child + 1]->first->due < queue[child]->first->due) child++;
        if (queue[child]->first->due >= direction->first->due) break;
        put(place, queue[child]);
    }
    put(place, direction);
}

static void add_timer(struct direction *direction) {
    if (queue_size + 2 > queue_room) {
        queue_room = queue_room ? queue_room * 2 : 64;
        queue = realloc(queue, queue_room * sizeof *queue);
        if (!queue) stop("realloc");
    }
    move_up(++queue_size, direction);
}

static void remove_timer(struct direction *direction) {
    size_t place = direction->place;
    if (!place) return;
    struct direction *last = queue[queue_size--];
    direction->place = 0;
    if (last == direction) return;
    move_down(place, last);
    move_up(last->place, last);
}

static void set_timer(void) {
    static int64_t set;
    int64_t due = queue_size ? queue[1]->first->due : 0;
    if (due == set) return;
    set = due;
    struct itimerspec time = {.it_value = {due / 1000000000, due % 1000000000}};
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL)) stop("timerfd_settime");
}

/* Links. */

static void change(int operation, struct source *source, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = source};
    if (epoll_ctl(epoll, operation, source->file, &event)) stop("epoll_ctl");
}

static void watch(struct link *link, int number) {
    const struct direction *in = &link->directions[number], *out = &link->directions[1 - number];
    uint32_t events = 0;
    if (!in->has_ended && in->buffered < WINDOW) events |= EPOLLIN;
    if (out->is_full) events |= EPOLLOUT;
    if (link->sources[number].is_watched) change(EPOLL_CTL_MOD, &link->sources[number], events);
}

/* Lists the link for `close_failed`. The link is not closed now, because later events of this loop iteration may refer
 * to it. */
static void fail(struct link *link) {
    if (link->has_failed) return;
    link->has_failed = 1;
    link->next_failed = failed;
    failed = link;
}

static void close_failed(void) {
    while (failed) {
        struct link *link = failed;
        failed = link->next_failed;
        for (int i = 0; i < 2; i++) {
            remove_timer(&link->directions[i]);
            close(link->sources[i].file);
            for (struct chunk *chunk = link->directions[i].first, *next; chunk; chunk = next) {
                next = chunk->next;
                free(chunk);
            }
        }
        free(link);
    }
}

static void append(struct direction *direction, const char *bytes, size_t size) {
    struct chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk) stop("malloc");
    *chunk = (struct chunk){.due = direction->not_before, .size = size};
    if (size) memcpy(chunk->bytes, bytes, size);
    *direction->end = chunk;
    direction->end = &chunk->next;
    direction->buffered += size;
    if (direction->first == chunk && !direction->is_full) add_timer(direction);
}

static int is_lost(void) {
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    return noise < loss_limit;
}

/* Gives each segment its arrival time. Segments that arrive at the same time are one chunk. */
static void send_later(struct link *link, int number, const char *bytes, size_t size) {
    struct direction *direction = &link->directions[number];
    int64_t sent = now(), arrival = (sent < link->usable ? link->usable : sent) + round_trip / 2;
    size_t start = 0;
    for (size_t at = 0; at < size; at += SEGMENT) {
        int64_t due = is_lost() ? arrival + round_trip : arrival;
        if (due <= direction->not_before) continue;
        if (at > start) append(direction, bytes + start, at - start);
        direction->not_before = due;
        start = at;
    }
    append(direction, bytes + start, size - start);
}

static void receive(struct link *link, int number) {
    static char bytes[READ];
    struct direction *direction = &link->directions[number];
    ssize_t size = recv(link->sources[number].file, bytes, sizeof bytes, 0);
    if (size < 0) {
        if (errno != EAGAIN) fail(link);
        return;
    }
    if (size > 0) {
        send_later(link, number, bytes, (size_t)size);
    } else {
        int64_t due = now() + round_trip / 2;
        if (direction->not_before < due) direction->not_before = due;
        direction->has_ended = 1;
        append(direction, NULL, 0);
    }
    if (direction->has_ended || direction->buffered >= WINDOW) watch(link, number);
}

/* Sends one chunk. Returns 0 if the receiver accepts no more bytes now. */
static int send_chunk(struct link *link, int file, struct chunk *chunk) {
    if (!chunk->size) {
        shutdown(file, SHUT_WR);
        return 1;
    }
    ssize_t size = send(file, chunk->bytes + chunk->sent, chunk->size - chunk->sent, MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN) fail(link);
    if (size > 0) chunk->sent += (size_t)size;
    return chunk->sent == chunk->size;
}

/* Delivers the chunks whose time has come. At the time of the call, the direction is not in the queue of timers. */
static void deliver(struct link *link, int number) {
    struct direction *direction = &link->directions[number];
    const struct direction *other = &link->directions[1 - number];
    int was_full = direction->is_full, was_stopped = direction->buffered >= WINDOW;
    int64_t time = now();
    direction->is_full = 0;
    for (struct chunk *chunk; (chunk = direction->first) && chunk->due <= time;) {
        direction->is_full = !send_chunk(link, link->sources[1 - number].file, chunk);
        if (direction->is_full) break;
        direction->buffered -= chunk->size;
        direction->first = chunk->next;
        if (!direction->first) direction->end = &direction->first;
        free(chunk);
    }
    if (link->has_failed) return;
    if (direction->first && !direction->is_full) add_timer(direction);
    if (was_full != direction->is_full) watch(link, 1 - number);
    if (was_stopped && direction->buffered < WINDOW) watch(link, number);
    if (direction->has_ended && other->has_ended && !direction->first && !other->first) fail(link);
}

static void deliver_due(void) {
    uint64_t expired;
    if (read(timer, &expired, sizeof expired) < 0 && errno != EAGAIN) stop("timerfd");
    for (int64_t time = now(); queue_size && queue[1]->first->due <= time;) {
        struct direction *direction = queue[1];
        remove_timer(direction);
        struct link *link = direction->link;
        deliver(link, direction == &link->directions[1]);
    }
}

/* Sockets. */

static struct sockaddr_in loopback(int port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
}

/* Connects to the server with a blocking socket, because the connection takes almost no time on loopback. */
static int connect_to(int port) {
    struct sockaddr_in address = loopback(port);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) ||
        fcntl(server, F_SETFL, O_NONBLOCK))
        stop("connect");
    return server;
}

static void accept_link(const struct source *listener) {
    int yes = 1, client = accept4(listener->file, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    struct link *link = calloc(1, sizeof *link);
    if (!link) stop("calloc");
    link->usable = now() + round_trip;
    int files[2] = {client, connect_to(server_ports[listener->number])};
    for (int i = 0; i < 2; i++) {
        setsockopt(files[i], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        link->directions[i].link = link;
        link->directions[i].end = &link->directions[i].first;
        link->sources[i] = (struct source){link, i, files[i], 1};
        change(EPOLL_CTL_ADD, &link->sources[i], EPOLLIN);
    }
}

static void handle(struct source *source, uint32_t events) {
    struct link *link = source->link;
    int number = source->number;
    if (!link) {
        if (source->file == timer)
            deliver_due();
        else
            accept_link(source);
        return;
    }
    if (events & EPOLLERR) fail(link);
    if (link->has_failed) return;
    if (events & EPOLLIN) receive(link, number);
    if (events & EPOLLOUT && !link->has_failed && link->directions[1 - number].is_full) deliver(link, 1 - number);
    /* If both sides have closed this socket, epoll would report the socket repeatedly until the last bytes are due. So
     * the socket is removed from epoll. */
    if (events & EPOLLHUP && !(events & EPOLLIN) && source->is_watched) {
        source->is_watched = 0;
        change(EPOLL_CTL_DEL, source, 0);
    }
}

static void listen_on(struct source *source, const char *ports) {
    int yes = 1;
    char *colon;
    struct sockaddr_in address = loopback((int)strtol(ports, &colon, 10));
    server_ports[source->number] = *colon ? atoi(colon + 1) : 0;
    source->file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (source->file < 0 || setsockopt(source->file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
        bind(source->file, (struct sockaddr *)&address, sizeof address) || listen(source->file, 1024))
        stop(ports);
    change(EPOLL_CTL_ADD, source, EPOLLIN);
}

int main(int argc, char **argv) {
    static struct source listeners[PORTS], clock;
    struct epoll_event events[EVENTS];
    if (argc < 4 || argc > 3 + PORTS) {
        fprintf(stderr, "usage: delay_proxy RTT_MS LOSS_PERCENT LISTENING_PORT:SERVER_PORT...\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    round_trip = (int64_t)(atof(argv[1]) * 1e6);
    loss_limit = (uint64_t)(atof(argv[2]) / 100 * (double)UINT64_MAX);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (epoll < 0 || timer < 0) stop("epoll");
    clock.file = timer;
    change(EPOLL_CTL_ADD, &clock, EPOLLIN);
    for (int i = 3; i < argc; i++) {
        listeners[i - 3].number = i - 3;
        listen_on(&listeners[i - 3], argv[i]);
    }
    for (;;) {
        set_timer();
        int count = epoll_wait(epoll, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) stop("epoll_wait");
        for (int i = 0; i < count; i++) handle(events[i].data.ptr, events[i].events);
        close_failed();
    }
}
