// The program of the daemon. Its code is in the library, which hosts have anyway: a second copy would double the size
// of an installation. The header does not declare the function, because a host must not call it: it blocks signals, and
// it reads the command line of the process.
int bhd_run(void);

int main(void) { return bhd_run(); }
