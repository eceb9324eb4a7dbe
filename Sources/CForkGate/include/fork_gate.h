// A fork waits while another thread computes a type or a global value of Swift. fork_gate.c says why.

#ifndef BHL_FORK_GATE_H
#define BHL_FORK_GATE_H

// A computation of this thread begins. If another thread forks, the call waits until the fork is over, for one second
// at most. Computations may be nested.
void bhl_computation_begins(void);

// The computation ends.
void bhl_computation_ends(void);

#endif
