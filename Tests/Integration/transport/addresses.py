"""A network with silent addresses. All packets to these addresses are dropped. A host name can have silent addresses
and other addresses."""

import subprocess

from testbed.network import Network, Unavailable

#: The addresses of the servers. The cable, a virtual Ethernet link, connects the servers' side with the hosts' side.
#: The addresses of the servers are outside the IP network of this cable. Therefore the resolver keeps the order of a
#: name's addresses (RFC 6724, rule 9).
SERVER, SERVER_6 = "198.51.100.1", "2001:db8:1::1"
#: No packet to these addresses gets a reply, as behind a firewall that drops packets.
SILENT = tuple(f"198.51.100.{number}" for number in (101, 102, 103, 104))
SILENT_6 = "2001:db8:1::101"
#: Environment variables with which the resolver returns all addresses of a name in /etc/hosts (host.conf(5)).
RESOLVE_ALL = {"RESOLV_MULTI": "on"}


class SilentNetwork(Network):
    """The servers' side drops packets to the silent addresses of IPv4 and IPv6, so that no ICMP message ends a
    connection attempt."""

    address = SERVER

    def __init__(self, folder):
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
            raise Unavailable("the network's names need a mount namespace, which cannot be made here, as in a chroot")
        super().__init__()
        self._hosts = folder / "hosts"
        try:
            self.plug()
            self.add_default_route()
            self.here("ip -6 addr add 2001:db8::1/64 dev cable nodad"
                      " && ip -6 route add default via 2001:db8::2 dev cable")
            self._in(self._servers_namespace,
                     f"ip addr add {SERVER}/32 dev lo && ip -6 addr add {SERVER_6}/128 dev lo nodad"
                     " && ip -6 addr add 2001:db8::2/64 dev other nodad"
                     " && ip route add blackhole 198.51.100.0/24"
                     " && ip -6 route add blackhole 2001:db8:1::/64")
        except BaseException:
            self.end()
            raise
        self.name({})

    def name(self, addresses):
        """Sets the addresses of each name. The resolver returns the addresses of one family in the given order."""
        lines = ["127.0.0.1 localhost", *(f"{one} {name}" for name, several in addresses.items() for one in several)]
        self._hosts.write_text("\n".join(lines) + "\n")

    @property
    def prefix(self):
        """The first words of a command that runs in the namespace of the hosts. The command can resolve the names of
        this network's servers."""
        script = 'mount --bind "$0" /etc/hosts && exec "$@"'
        return [*super().prefix, "unshare", "--mount", "sh", "-c", script, str(self._hosts)]
