// The checksum of the files to which unfinished downloads write (CRC-32C, RFC 3720, appendix B.4). If the processor has
// an instruction for this checksum, the instruction is used. The checksum is implemented here because no linked library
// has it.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bhl_crc32c_plain(uint32_t crc, const unsigned char *bytes, size_t size) {
    // The table is small, because it is for four bits at a time. It is used only on processors without the instruction.
    static const uint32_t table[16] = {
        0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
        0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
    };
    while (size--) {
        crc ^= *bytes++;
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static inline uint32_t bhl_crc32c_fast(uint32_t crc, const unsigned char *bytes,
                                                                         size_t size) {
    uint64_t sum = crc;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sum = __builtin_ia32_crc32di(sum, word);
    }
    crc = (uint32_t)sum;
    while (size--) crc = __builtin_ia32_crc32qi(crc, *bytes++);
    return crc;
}
#endif

// Returns the checksum `crc` extended by more bytes. For the first bytes, `crc` is 0.
static inline uint32_t bhl_crc32c(uint32_t crc, const void *bytes, size_t size) {
    crc = ~crc;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return ~bhl_crc32c_fast(crc, bytes, size);
#endif
    return ~bhl_crc32c_plain(crc, bytes, size);
}
