// The conditions of the machine: files of sysfs(5) in the testbed's directory, which the daemon reads.

#define _GNU_SOURCE
#include "kit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Replaces a file atomically: a reader of a file of the kernel never sees a part of it.
static void replace(const bht_testbed *testbed, const char *folder, const char *name, const char *text) {
    char file[PATH_MAX], beside[PATH_MAX], path[PATH_MAX], target[PATH_MAX];
    snprintf(file, sizeof file, "sys/class/%s/%s", folder, name);
    snprintf(beside, sizeof beside, "sys/class/%s/.new", folder);
    snprintf(path, sizeof path, "%s/sys/class/%s", testbed->directory, folder);
    mkdir(path, 0700);
    bool is_written = bht_write_file(testbed, beside, 0600, text);
    snprintf(path, sizeof path, "%s/%s", testbed->directory, beside);
    snprintf(target, sizeof target, "%s/%s", testbed->directory, file);
    if (!is_written || rename(path, target)) abort();
}

static void replace_number(const bht_testbed *testbed, const char *folder, const char *name, int64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%lld\n", (long long)number);
    replace(testbed, folder, name, text);
}

// Lets the daemon read the conditions again.
static void report(bht_testbed *testbed) {
    __atomic_add_fetch(&testbed->control->conditions, 1, __ATOMIC_SEQ_CST);
    control_bump(&testbed->control->changes);
    bht_settle(testbed);
}

void bht_set_power(bht_testbed *testbed, bool is_external, uint8_t battery_percent) {
    bht_demand(battery_percent <= 100, "bht_set_power: the battery has %d percent; give 0 to 100", battery_percent);
    bht_settle(testbed);
    replace(testbed, "power_supply/BAT0", "type", "Battery\n");
    replace(testbed, "power_supply/BAT0", "present", "1\n");
    replace(testbed, "power_supply/BAT0", "status", is_external ? "Charging\n" : "Discharging\n");
    replace_number(testbed, "power_supply/BAT0", "capacity", battery_percent);
    replace(testbed, "power_supply/AC", "type", "Mains\n");
    replace_number(testbed, "power_supply/AC", "online", is_external);
    report(testbed);
}

void bht_set_heat(bht_testbed *testbed, bh_thermal_state state) {
    // A zone that is critical at 100 degrees, and is cooled from 85 degrees on.
    static const int64_t degrees[] = {
        [BH_THERMAL_DEFAULT] = 40, [BH_THERMAL_NOMINAL] = 40,  [BH_THERMAL_FAIR] = 86,
        [BH_THERMAL_SERIOUS] = 91, [BH_THERMAL_CRITICAL] = 98,
    };
    size_t count = sizeof degrees / sizeof *degrees;
    bht_demand((size_t)state < count, "bht_set_heat: %d is no state; give one of bh_thermal_state", (int)state);
    bht_settle(testbed);
    replace(testbed, "thermal/thermal_zone0", "type", "x86_pkg_temp\n");
    replace(testbed, "thermal/thermal_zone0", "trip_point_0_type", "passive\n");
    replace_number(testbed, "thermal/thermal_zone0", "trip_point_0_temp", 85000);
    replace(testbed, "thermal/thermal_zone0", "trip_point_1_type", "critical\n");
    replace_number(testbed, "thermal/thermal_zone0", "trip_point_1_temp", 100000);
    replace_number(testbed, "thermal/thermal_zone0", "temp", degrees[state] * 1000);
    report(testbed);
}

void bht_set_network(bht_testbed *testbed, bh_network_kinds kind) {
    bht_demand(kind <= BH_NETWORK_OTHER && !(kind & (kind - 1)),
               "bht_set_network: %u is not the kind of one network; give one of BH_NETWORK_…, or 0", kind);
    const char *device = kind & BH_NETWORK_WIFI        ? "DEVTYPE=wlan\n"
                         : kind & BH_NETWORK_CELLULAR  ? "DEVTYPE=wwan\n"
                         : kind & BH_NETWORK_BLUETOOTH ? "DEVTYPE=bluetooth\n"
                         : kind & BH_NETWORK_TUNNEL    ? "DEVTYPE=tun\n"
                                                       : "\n";
    bht_settle(testbed);
    replace(testbed, "net/" CONTROL_INTERFACE, "type", kind & BH_NETWORK_OTHER ? "772\n" : "1\n");
    replace(testbed, "net/" CONTROL_INTERFACE, "uevent", device);
    __atomic_store_n(&testbed->control->has_network, kind != 0, __ATOMIC_SEQ_CST);
    report(testbed);
}
