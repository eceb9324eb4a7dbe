/* Replays a recording (bench/recording.h) with SQLite alone. */
#pragma once

/* Performs the operations of the recording, as fast as possible, in a new database at `path`. If a statement or a
 * checkpoint has another result than in the recording, or if a statement changes another number of rows, prints a
 * message and exits with 1. The process must not have used SQLite before. */
void replay(const char *recording, const char *path);
