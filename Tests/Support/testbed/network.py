"""Two network namespaces with a cable (veth) between them. Hosts run in one namespace, and servers in the other. A
test can unplug the cable and plug it in again."""

import ctypes
import os
import shutil
import subprocess
import threading

from servers import child

CLONE_NEWNET = 0x40000000
HERE, THERE = "192.0.2.1", "192.0.2.2"


class Unavailable(Exception):
    """The reason why no network can be made."""


class Network:
    #: The address on which servers listen.
    address = THERE

    def __init__(self):
        if os.geteuid() != 0:
            raise Unavailable("needs root, for namespaces")
        for program in ("ip", "unshare", "nsenter"):
            if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
                raise Unavailable(f"needs {program}")
        self._namespaces = []
        try:
            self._hosts_namespace, self._servers_namespace = self._namespace(), self._namespace()
            self.here("ip link set lo up")
            self._in(self._servers_namespace, "ip link set lo up")
            self.here(f"ip link add cable type veth peer name other netns {self._servers_namespace}")
            self._in(self._servers_namespace, f"ip addr add {THERE}/24 dev other && ip link set other up")
        except BaseException:
            self.end()
            raise

    def _namespace(self):
        keeper = child.start(["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE)
        self._namespaces.append(keeper)
        if not keeper.stdout.readline():
            raise Unavailable("unshare is not allowed to make a namespace")
        return keeper.pid

    def _in(self, keeper, script):
        done = subprocess.run([*self._prefix(keeper), "sh", "-c", script], check=False, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
        if done.returncode:
            raise Unavailable(done.stderr.strip())

    def here(self, script):
        """Runs a shell script in the hosts' namespace."""
        self._in(self._hosts_namespace, script)

    def plug(self):
        self.here(f"ip addr replace {HERE}/24 dev cable && ip link set cable up")

    def add_default_route(self):
        """Adds a default route, so that the hosts' packets to all other networks go to the servers' namespace."""
        self.here(f"ip route replace default via {THERE} dev cable")

    def add_server_address(self, arguments):
        """Adds an address in the servers' namespace, with these arguments of `ip addr add`."""
        self._in(self._servers_namespace, f"ip addr add {arguments}")

    def unplug(self):
        self.here("ip link set cable down")

    @property
    def prefix(self):
        """The first words of a command that starts a program in the hosts' namespace."""
        return self._prefix(self._hosts_namespace)

    @property
    def prefix_there(self):
        """The same for the servers' namespace."""
        return self._prefix(self._servers_namespace)

    @staticmethod
    def _prefix(keeper):
        return ["nsenter", f"--net=/proc/{keeper}/ns/net"]

    def there(self, body):
        """Calls a function in a thread of the servers' namespace. Sockets and threads that the function makes belong to
        this namespace."""
        return self._call(self._servers_namespace, body)

    def inside(self, body):
        """Calls a function in a thread of the hosts' namespace."""
        return self._call(self._hosts_namespace, body)

    @staticmethod
    def _call(keeper, body):
        result = []

        def run():
            namespace = os.open(f"/proc/{keeper}/ns/net", os.O_RDONLY)
            try:
                if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET) == 0:
                    result.append(body())
            finally:
                os.close(namespace)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return result[0]

    def end(self):
        for keeper in self._namespaces:
            keeper.kill()
            keeper.wait()
            keeper.stdout.close()
