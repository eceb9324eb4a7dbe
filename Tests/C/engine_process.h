/* An engine, which runs the tasks of the store, in another process. While that process is stopped (SIGSTOP), the engine
 * sends no reply. */
#ifndef ENGINE_PROCESS_H
#define ENGINE_PROCESS_H

#include "check.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static inline pid_t start_engine(void) {
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t engine = fork();
    if (engine == 0) {
        /* The kernel kills the engine when the test's process ends, even if the test fails. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        open_application();
        CHECK(write(ready[1], "r", 1) == 1);
        for (;;) pause();
    }
    CHECK(engine > 0);
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    return engine;
}

static inline void stop(pid_t engine) {
    int status;
    CHECK(kill(engine, SIGSTOP) == 0);
    CHECK(waitpid(engine, &status, WUNTRACED) == engine && WIFSTOPPED(status));
}

static inline void end(pid_t engine) {
    kill(engine, SIGKILL);
    CHECK(waitpid(engine, NULL, 0) == engine);
}

#endif
