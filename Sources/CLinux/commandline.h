// The parts of libc that the command line needs: long options, a descriptor for signals, and the width of characters on
// a terminal.
#pragma once
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

// libc declares this function only if _XOPEN_SOURCE is defined.
extern int wcwidth(wchar_t character);

// One result of getopt_long. libc returns the result in mutable global variables, and Swift 6 does not permit
// concurrent code to read such variables.
struct bhl_option {
    int code;             // the return value of getopt_long, -1 at the end of the options
    int option;           // of a wrong option: its code, or 0 if the option is long and has no code
    const char *argument; // the argument of the option, or NULL
    int next;             // at the end: the index of the first argument that is not an option; else of the next word
};
static inline struct bhl_option bhl_next_option(int count, char *const *arguments, const char *short_options,
                                                const struct option *long_options) {
    struct bhl_option result;
    opterr = 0;
    result.code = getopt_long(count, arguments, short_options, long_options, NULL);
    result.option = optopt;
    result.argument = optarg;
    result.next = optind;
    return result;
}
// Makes the next call of getopt_long begin at the first argument. optind is set to 0 and not to 1, because only 0 also
// resets the position that GNU getopt has inside an argument.
static inline void bhl_restart_options(void) { optind = 0; }

// The next two functions are in C, because SIG_IGN and SIG_DFL are macros with casts. Swift cannot import such macros.
static inline int bhl_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
static inline void bhl_set_default(int number) { signal(number, SIG_DFL); }
static inline int bhl_terminal_size(int descriptor, struct winsize *size) {
    return ioctl(descriptor, TIOCGWINSZ, size);
}

// Ends the process with exit code 0 after the time, even if all its threads wait. The handler and the timer are in C,
// because Swift has no function that is safe in a signal handler.
static inline void bhl_exit_on_alarm(int signal) {
    (void)signal;
    _exit(0);
}
static inline void bhl_exit_after(int milliseconds) {
    struct itimerval timer = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000}};
    signal(SIGALRM, bhl_exit_on_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
}
