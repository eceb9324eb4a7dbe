// How this process was made. process.c says why the library needs to know it.

#ifndef BHL_PROCESS_H
#define BHL_PROCESS_H

enum bhl_origin {
    BHL_LOADED_LIBRARY,    // this process loaded the library
    BHL_FORKED_AFTER_LOAD, // an ancestor loaded the library, and no ancestor had opened an application before the fork
    BHL_FORKED_AFTER_OPEN, // an ancestor had opened an application before the fork
};

// Takes no lock and allocates nothing: a thread of the parent may have locked any lock during the fork.
enum bhl_origin bhl_process_origin(void);

// Notes that this process opens an application.
void bhl_note_opening(void);

// Calls the function on a new thread, and waits for its end. If no thread can be made, calls the function directly.
void bhl_call_on_new_thread(void (*function)(void *), void *argument);

#endif
