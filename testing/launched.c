// The program that a daemon of a testbed starts in place of a launch command. It reports the launch to the test, which
// starts the host, and it ends when the host has ended. Its arguments: the testbed's directory, and the launch command.

#define _GNU_SOURCE
#include "control.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t host;

// The daemon ends a launch with SIGTERM. The launch ends at once if the test has not started the host.
static void pass_on(int number) {
    if (host <= 0) _exit(1);
    kill(host, number);
}

static int connect_to_test(const char *directory) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "launches"};
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connection < 0 || chdir(directory) || connect(connection, (struct sockaddr *)&address, sizeof address))
        return -1;
    return connection;
}

static int send_texts(int connection, const char *directory, char **words) {
    char **lists[] = {words, environ};
    uint32_t counts[3] = {0, 0, (uint32_t)strlen(directory) + 1};
    for (size_t list = 0; list < 2; list++)
        for (char **one = lists[list]; *one; one++) {
            counts[list]++;
            counts[2] += (uint32_t)strlen(*one) + 1;
        }
    FILE *stream = fdopen(dup(connection), "w");
    if (!stream) return -1;
    fwrite(counts, sizeof counts, 1, stream);
    fwrite(directory, strlen(directory) + 1, 1, stream);
    for (size_t list = 0; list < 2; list++)
        for (char **one = lists[list]; *one; one++) fwrite(*one, strlen(*one) + 1, 1, stream);
    return fclose(stream);
}

int main(int count, char **words) {
    char directory[PATH_MAX] = "/";
    if (count < 3 || !getcwd(directory, sizeof directory)) return 2;
    // The daemon names its own program. The next daemon has to belong to the testbed, too.
    char daemon[PATH_MAX];
    snprintf(daemon, sizeof daemon, "%s/backhauld", words[1]);
    setenv("BACKHAUL_DAEMON", daemon, 1);
    setenv(CONTROL_VARIABLE, words[1], 1);
    int connection = connect_to_test(words[1]);
    struct sigaction action = {.sa_handler = pass_on};
    sigaction(SIGTERM, &action, NULL);
    if (connection < 0 || send_texts(connection, directory, words + 2)) return 1;
    int32_t process;
    if (recv(connection, &process, sizeof process, MSG_WAITALL) == sizeof process) host = process;
    char byte;
    while (recv(connection, &byte, 1, 0) < 0 && errno == EINTR) continue;
    return 0;
}
