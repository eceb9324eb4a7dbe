"""Commands that run in namespaces of their own (unshare(1))."""

import subprocess

#: The first words of a command that becomes process 1 of a new process namespace. When it ends, however that happens,
#: the kernel kills all processes in the namespace.
PROCESS_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


def can_run(words):
    """Returns whether these first words of a command work here. In a chroot, for example, the root is no mount, so
    /proc cannot be mounted."""
    return subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0
