#pragma once
// The functions for wide characters. Without them, a name in UTF-8 would have the wrong number of columns.
#define NCURSES_WIDECHAR 1
// No macros in place of functions: macros such as `clear` would also replace words in other headers.
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <stdbool.h>
#include <stdio.h>

// Shows the alternate screen of the terminal of standard output, and reads keys from standard input. Returns false if
// the terminal database does not have the terminal, or if the terminal cannot move its cursor.
static inline bool bhn_start(void) {
    if (!newterm(NULL, stdout, stdin)) return false;
    cbreak();
    noecho();
    // Keeps Return and line feed apart.
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    // An Escape that no further byte follows within this time is the key Escape, in milliseconds.
    set_escdelay(50);
    curs_set(0);
    return true;
}

// Makes the color pairs 1 to 6: red, green, yellow, blue, magenta and cyan on the terminal's own background.
static inline bool bhn_start_colors(void) {
    if (!has_colors() || start_color() == ERR || use_default_colors() == ERR) return false;
    for (short color = COLOR_RED; color <= COLOR_CYAN; color++) init_pair(color, color, -1);
    return true;
}

static inline void bhn_set_style(bool bold, bool reverse, short pair) {
    attr_set((bold ? A_BOLD : 0) | (reverse ? A_REVERSE : 0), pair, NULL);
}

static inline void bhn_move(int row, int column) { wmove(stdscr, row, column); }
static inline void bhn_write(const wchar_t *text) { waddwstr(stdscr, text); }
static inline void bhn_erase(void) { werase(stdscr); }

// Sends the changed cells to the terminal. `all`: sends all cells, because another program has drawn on the terminal.
static inline void bhn_show(bool all) {
    if (all) clearok(curscr, TRUE);
    wrefresh(stdscr);
}

static inline void bhn_resize(int rows, int columns) { resizeterm(rows, columns); }

// Leaves the alternate screen and restores the mode of the terminal, until the next `bhn_show`.
static inline void bhn_end(void) { endwin(); }

// Reads a key without waiting. Returns 0: there is no key; 1: *key is a character; 2: *key is one of the KEY constants.
static inline int bhn_key(wint_t *key) {
    int result = wget_wch(stdscr, key);
    return result == ERR ? 0 : result == KEY_CODE_YES ? 2 : 1;
}
