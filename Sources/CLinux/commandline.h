// What the command line needs of libc: long options, signals as a descriptor, the width of characters on a terminal.
#pragma once
#include <getopt.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <wchar.h>

// Shown by libc under _XOPEN_SOURCE only.
extern int wcwidth(wchar_t character);

// getopt_long reports through mutable globals, which Swift 6 does not let concurrent code read.
struct bhl_option {
    int code;             // as getopt_long returned it, -1 at the end of the options
    const char *argument; // of the option, or NULL
    int next;             // number of the first argument that is not an option, at the end
};
static inline struct bhl_option bhl_next_option(int count, char *const *arguments, const char *short_options,
                                                const struct option *long_options) {
    struct bhl_option result;
    result.code = getopt_long(count, arguments, short_options, long_options, NULL);
    result.argument = optarg;
    result.next = optind;
    return result;
}
// Lets the next scan begin at the first argument; 0 makes GNU's getopt forget its place inside a word, too.
static inline void bhl_restart_options(void) { optind = 0; }

// Casts behind a macro that Swift cannot read.
static inline int bhl_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
static inline void bhl_set_default(int number) { signal(number, SIG_DFL); }
static inline int bhl_terminal_size(int descriptor, struct winsize *size) {
    return ioctl(descriptor, TIOCGWINSZ, size);
}
