/* SPDX-License-Identifier: BSD-2-Clause */
/* Encodes blocks of jobs column by column, and decodes them. */
#include "workload/trace_block.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, VALUE_MAX = sizeof(uint64_t) };

/* The values of a block follow, column by column: each is so much above the least one of its column. */
struct head {
    uint32_t count;
    uint32_t bytes; /* of the values */
    int64_t least[COLUMNS];
    unsigned char width[8]; /* bytes of a value, 0 to 8; of the columns that there are */
};

enum {
    SLACK = VALUE_MAX, /* values are read and written eight bytes at a time */
    BYTES_MAX = sizeof(struct head) + BLI_TRACE_BLOCK * sizeof(struct bli_trace_record) + SLACK,
};

/* The columns of a record: where they lie, and whether they are 8 bytes or 4. */
static const struct column {
    size_t offset;
    bool wide;
} columns[COLUMNS] = {
    {offsetof(struct bli_trace_record, time), true},   {offsetof(struct bli_trace_record, size), true},
    {offsetof(struct bli_trace_record, ahead), true},  {offsetof(struct bli_trace_record, drawn), false},
    {offsetof(struct bli_trace_record, marks), false}, {offsetof(struct bli_trace_record, request), false}};

static inline int64_t value_at(const char *field, bool wide) {
    int64_t value;
    uint32_t narrow;
    if (wide) {
        memcpy(&value, field, sizeof value);
        return value;
    }
    memcpy(&narrow, field, sizeof narrow);
    return narrow;
}

static unsigned bytes_for(uint64_t value) {
    return value ? (71u - (unsigned)__builtin_clzll(value)) / 8 : 0;
}

/* Returns where the column ends; up to SLACK bytes behind it are written too. */
static inline unsigned char *pack_column(const char *field, bool wide, size_t count, int64_t *least,
                                         unsigned char *width, unsigned char *to) {
    int64_t low = value_at(field, wide), high = low;
    for (size_t i = 1; i < count; i++) {
        const int64_t value = value_at(field + i * sizeof(struct bli_trace_record), wide);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    const unsigned bytes = bytes_for((uint64_t)high - (uint64_t)low);
    *least = low;
    *width = (unsigned char)bytes;
    for (size_t i = 0; i < count && bytes > 0; i++, to += bytes) {
        const int64_t value = value_at(field + i * sizeof(struct bli_trace_record), wide);
        const uint64_t above = htole64((uint64_t)value - (uint64_t)low);
        memcpy(to, &above, sizeof above);
    }
    return to;
}

static inline void set_value(char *field, bool wide, uint64_t value) {
    const uint32_t narrow = (uint32_t)value;
    if (wide)
        memcpy(field, &value, sizeof value);
    else
        memcpy(field, &narrow, sizeof narrow);
}

/* Up to SLACK bytes behind the column are read too. */
static inline void unpack_column(char *field, bool wide, size_t count, int64_t least, unsigned width,
                                 const unsigned char *from) {
    const char *end = field + count * sizeof(struct bli_trace_record);
    const uint64_t base = (uint64_t)least, mask = width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
    if (width == 0) /* all are the same, as most of some columns are */
        for (; field < end; field += sizeof(struct bli_trace_record))
            set_value(field, wide, base);
    else
        for (; field < end; field += sizeof(struct bli_trace_record), from += width) {
            uint64_t above;
            memcpy(&above, from, sizeof above);
            set_value(field, wide, base + (le64toh(above) & mask));
        }
}

static size_t pack_block(const struct bli_trace_record *records, size_t count, unsigned char *to) {
    struct head head = {.count = (uint32_t)count};
    unsigned char *at = to + sizeof head;
    for (size_t c = 0; c < COLUMNS; c++) {
        const char *field = (const char *)records + columns[c].offset;
        at = columns[c].wide ? pack_column(field, true, count, &head.least[c], &head.width[c], at)
                             : pack_column(field, false, count, &head.least[c], &head.width[c], at);
    }
    head.bytes = (uint32_t)(at - to - (ptrdiff_t)sizeof head);
    memcpy(to, &head, sizeof head);
    return (size_t)(at - to);
}

static void unpack_block(const struct head *head, const unsigned char *from,
                         struct bli_trace_record *records) {
    for (size_t c = 0; c < COLUMNS; c++) {
        char *field = (char *)records + columns[c].offset;
        if (columns[c].wide)
            unpack_column(field, true, head->count, head->least[c], head->width[c], from);
        else
            unpack_column(field, false, head->count, head->least[c], head->width[c], from);
        from += head->count * head->width[c];
    }
}

enum bal_code bli_trace_run_append(struct bli_trace_run *run, struct bli_spool *to,
                                   const struct bli_trace_record *records, size_t count,
                                   struct bal_error *err) {
    enum { ROOM = 1 << 17 };
    unsigned char *bytes = malloc(ROOM);
    if (!bytes)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trace");
    assert(run->end == to->length);
    run->count += count;
    enum bal_code code = BAL_OK;
    while (count > 0 && !code) {
        size_t filled = 0;
        while (count > 0 && filled + BYTES_MAX <= ROOM) {
            const size_t some = count < BLI_TRACE_BLOCK ? count : BLI_TRACE_BLOCK;
            filled += pack_block(records, some, bytes + filled);
            records += some;
            count -= some;
        }
        code = bli_spool_append(to, bytes, filled, err);
    }
    run->end = to->length;
    free(bytes);
    return code;
}

void bli_trace_reader_init(struct bli_trace_reader *reader, const struct bli_spool *from,
                           const struct bli_trace_run *run) {
    reader->from = from;
    reader->next = run->start;
    reader->end = run->end;
    reader->at = reader->filled = 0;
}

/* Sees to it that a whole block is in memory, unless fewer bytes are left. */
static enum bal_code fill_buffer(struct bli_trace_reader *reader, struct bal_error *err) {
    const size_t held = reader->filled - reader->at, room = sizeof reader->bytes - SLACK - held;
    memmove(reader->bytes, reader->bytes + reader->at, held);
    const uint64_t left = reader->end - reader->next;
    const size_t more = left < room ? (size_t)left : room;
    reader->at = 0;
    reader->filled = held + more;
    const enum bal_code code = bli_spool_read(reader->from, reader->next, reader->bytes + held, more, err);
    reader->next += more;
    return code;
}

enum bal_code bli_trace_reader_next(struct bli_trace_reader *reader, struct bli_trace_record *records,
                                    size_t *count, struct bal_error *err) {
    *count = 0;
    if (reader->filled - reader->at < BYTES_MAX && reader->next < reader->end) {
        const enum bal_code code = fill_buffer(reader, err);
        if (code)
            return code;
    }
    if (reader->at == reader->filled)
        return BAL_OK;
    struct head head;
    memcpy(&head, reader->bytes + reader->at, sizeof head);
    unpack_block(&head, reader->bytes + reader->at + sizeof head, records);
    reader->at += sizeof head + head.bytes;
    *count = head.count;
    return BAL_OK;
}
