// The Swift runtime computes types and global values at their first use. If a thread forks during such a computation in
// another thread, the fork waits until the computation ends. fork_gate.c says why.

#ifndef BHL_FORK_GATE_H
#define BHL_FORK_GATE_H

// Notes that this thread begins a computation. If another thread forks at this time, the call waits until the fork is
// over, for 0.2 s at most. Computations may be nested.
void bhl_computation_begins(void);

// Notes that this thread ends the computation.
void bhl_computation_ends(void);

// Sets the longest time, in milliseconds, for which a fork waits for computations, and computations wait for a fork.
// Only tests use this function.
void bhl_set_longest_fork_wait(int milliseconds);

#endif
