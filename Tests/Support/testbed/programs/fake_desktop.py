"""Fake services of a desktop: they record each call on the session bus, and send signals on demand.

    /usr/bin/python3 fake_desktop.py RECORD NAMES [CAPABILITIES]

The program needs the Python of the system, with python3-dbus and python3-gi. It takes the names in the JSON list NAMES,
and appends a line to the file RECORD for each call and for each signal of Unity's LauncherEntry: `{"member": …, "path":
…, "interface": …, "arguments": […]}`. The method `Emit` of the interface `test.Desktop` has a document with the path,
the interface, the member and the arguments of a signal, which the program sends.
"""

import json
import os
import sys

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib

METHOD_CALL, SIGNAL = 1, 4
LAUNCHER = "com.canonical.Unity.LauncherEntry"


def plain(value):
    """Returns the value of dbus-python as a value of JSON."""
    if isinstance(value, dbus.Dictionary):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (dbus.Array, dbus.Struct)):
        return [plain(item) for item in value]
    if isinstance(value, dbus.Boolean):
        return bool(value)
    if isinstance(value, dbus.Double):
        return float(value)
    return str(value) if isinstance(value, str) else int(value)


class Desktop:
    def __init__(self, record, names, capabilities):
        self.record = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.names = names
        self.capabilities = capabilities
        self.notifications = self.jobs = 0
        self.bus = dbus.SessionBus()
        self.bus.add_message_filter(self.handle)
        self.bus.add_match_string(f"type='signal',interface='{LAUNCHER}'")
        for name in {name.removesuffix("/2") for name in names}:
            self.bus.request_name(name)

    def handle(self, connection, message):
        kind, member, interface = message.get_type(), message.get_member(), message.get_interface()
        if kind == METHOD_CALL and interface == "test.Desktop":
            return self.emit(message)
        if kind == METHOD_CALL or (kind == SIGNAL and interface == LAUNCHER):
            line = {"member": member, "path": message.get_path(), "interface": interface,
                    "arguments": [plain(item) for item in message.get_args_list()],
                    "signature": str(message.get_signature())}
            os.write(self.record, (json.dumps(line) + "\n").encode())
        if kind != METHOD_CALL:
            return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
        reply = self.reply(message, member, interface)
        if not message.get_no_reply():
            connection.send_message(reply)
        return dbus.lowlevel.HANDLER_RESULT_HANDLED

    def reply(self, message, member, interface):
        reply = dbus.lowlevel.MethodReturnMessage(message)
        if member == "GetCapabilities":
            reply.append(self.capabilities, signature="as")
        elif member == "Notify":
            replaced = int(message.get_args_list()[1])
            self.notifications += not replaced
            reply.append(replaced or self.notifications, signature="u")
        elif member == "requestView":
            if interface == "org.kde.JobViewServerV2" and "org.kde.JobViewServer/2" in self.names:
                return dbus.lowlevel.ErrorMessage(message, "org.freedesktop.DBus.Error.UnknownInterface", "unknown")
            self.jobs += 1
            reply.append(f"/jobs/{self.jobs}", signature="o")
        elif member == "setDescriptionField":
            reply.append(True, signature="b")
        return reply

    def emit(self, message):
        wanted = json.loads(message.get_args_list()[0])
        signal = dbus.lowlevel.SignalMessage(wanted["path"], wanted["interface"], wanted["member"])
        for item in wanted["arguments"]:
            signal.append(item, signature="s" if isinstance(item, str) else "u")
        if "to" in wanted:
            signal.set_destination(wanted["to"])
        self.bus.send_message(signal)
        self.bus.send_message(dbus.lowlevel.MethodReturnMessage(message))
        return dbus.lowlevel.HANDLER_RESULT_HANDLED


if __name__ == "__main__":
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    Desktop(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]) if len(sys.argv) > 3 else [])
    GLib.MainLoop().run()
