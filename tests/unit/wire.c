/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages to bytes and back: the vectors of an independent implementation, every message comes back as it
 * was, every damaged one is refused and counted, and the window against a list of all that came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/live/wire.h"
#include "ballast/random.h"

enum { FLEET = 5, ME = 3 };

static struct bal_key key_of(const char *text) {
    struct bal_key key = bal_key_none();
    struct bal_error err;
    if (bal_key_parse(text, &key, &err))
        assert_string_equal(text, "00000000000000000000000000000000");
    return key;
}

static struct bal_key some_key(void) {
    return key_of("00112233445566778899aabbccddeeff");
}

static void assert_counts(const struct bal_receiver *ear, enum bal_receipt receipt, uint64_t count) {
    for (int i = 0; i < BAL_RECEIPTS; i++)
        assert_int_equal(ear->counts[i], i == (int)receipt ? count : 0);
}

/* ---- vectors ---- */

struct vector {
    char key[40], receipt[16], message[BAL_MESSAGE_TEXT];
    unsigned fleet;
    uint8_t bytes[BAL_DATAGRAM_MAX + 1];
    size_t size;
};

static size_t read_hex(const char *text, uint8_t *bytes, size_t room) {
    size_t size = 0;
    unsigned byte;
    for (; sscanf(text + 2 * size, "%2x", &byte) == 1; size++) {
        assert_true(size < room);
        bytes[size] = (uint8_t)byte;
    }
    return size;
}

/* A vector ends with its bytes. */
static bool read_vector(FILE *file, struct vector *v) {
    char line[BAL_MESSAGE_TEXT + 64], word[16];
    memset(v, 0, sizeof *v);
    while (fgets(line, sizeof line, file)) {
        int start = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        assert_int_equal(sscanf(line, "%15s %n", word, &start), 1);
        const char *value = line + start;
        if (strcmp(word, "key") == 0)
            snprintf(v->key, sizeof v->key, "%s", value);
        else if (strcmp(word, "fleet") == 0)
            v->fleet = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(word, "receipt") == 0)
            snprintf(v->receipt, sizeof v->receipt, "%s", value);
        else if (strcmp(word, "message") == 0)
            snprintf(v->message, sizeof v->message, "%s", value);
        else {
            assert_string_equal(word, "bytes");
            v->size = read_hex(value, v->bytes, sizeof v->bytes);
            return true;
        }
    }
    return false;
}

static void check_vector(const struct vector *v) {
    const struct bal_key key = key_of(v->key);
    struct bal_message m;
    /* To whom it is does not matter here: it is opened by the one that it names. */
    uint64_t receiver = ME;
    if (v->size >= 24)
        memcpy(&receiver, v->bytes + 16, 8); /* the machines that run the tests are little-endian */
    struct bal_receiver ear;
    bal_receiver_init(&ear, v->fleet, receiver, &key);
    const enum bal_receipt receipt = bal_receiver_open(&ear, v->bytes, v->size, &m);
    assert_string_equal(bal_receipt_name(receipt), v->receipt);
    if (receipt != BAL_RECEIPT_FRESH) {
        assert_counts(&ear, receipt, 1);
        return;
    }
    char text[BAL_MESSAGE_TEXT];
    assert_true(bal_message_print(&m, text, sizeof text) < sizeof text);
    assert_string_equal(text, v->message);
    assert_int_equal(m.fleet, v->fleet);
    uint8_t again[BAL_DATAGRAM_MAX];
    assert_int_equal(bal_message_encode(&m, &key, again), v->size);
    assert_memory_equal(again, v->bytes, v->size);
}

static unsigned check_vectors(const char *name) {
    const char *root = getenv("BALLAST_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/%s", root ? root : ".", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct vector v;
    unsigned vectors = 0;
    for (; read_vector(file, &v); vectors++)
        check_vector(&v);
    fclose(file);
    return vectors;
}

static void agrees_with_vectors(void **state) {
    (void)state;
    assert_true(check_vectors("vectors/wire.txt") >= 60);
}

/* Fleets may mix releases. */
static void reads_messages_of_earlier_versions(void **state) {
    (void)state;
    assert_true(check_vectors("older/wire.txt") >= 50);
}

/* ---- random messages ---- */

static uint32_t small_or_any(struct bal_rng *rng, uint32_t least, uint32_t most) {
    const uint32_t span = bal_rng_below(rng, 2) && most - least > 9 ? 10 : most - least;
    return least + (span == UINT32_MAX ? (uint32_t)bal_rng_next(rng) : bal_rng_below(rng, span + 1));
}

static uint64_t some_id(struct bal_rng *rng) {
    return 1 + (bal_rng_below(rng, 2) ? bal_rng_below(rng, 9) : bal_rng_next(rng) >> 1);
}

static void fill_idle(struct bal_message *m, struct bal_rng *rng) {
    m->idle.slots = small_or_any(rng, 1, UINT32_MAX);
    m->idle.free = small_or_any(rng, 1, m->idle.slots);
    m->idle.valid_ms = small_or_any(rng, 1, BAL_VALID_MAX);
    m->idle.token = m->idle.free + (some_id(rng) >> 1);
}

static void fill_load(struct bal_message *m, struct bal_rng *rng) {
    struct bal_message_load *load = &m->load;
    load->probe = bal_rng_below(rng, 2) ? some_id(rng) : 0;
    load->slots = small_or_any(rng, 1, UINT32_MAX);
    load->room = small_or_any(rng, 0, UINT32_MAX);
    load->answers = small_or_any(rng, 0, UINT32_MAX);
    load->errors = small_or_any(rng, 0, load->answers);
    load->latency_us = small_or_any(rng, 0, UINT32_MAX);
    load->valid_ms = small_or_any(rng, 1, BAL_VALID_MAX);
    load->power = bal_rng_below(rng, BAL_POWER_DRAINING + 1);
    load->classes = 1 + bal_rng_below(rng, BAL_CLASSES_MAX);
    for (uint32_t i = 0; i < load->classes; i++)
        load->jobs[i] = small_or_any(rng, 0, UINT32_MAX);
    load->in_service = small_or_any(rng, 0, load->jobs[0]);
}

static void fill_grant(struct bal_message *m, struct bal_rng *rng) {
    m->grant.steal = some_id(rng);
    m->grant.count = bal_rng_below(rng, BAL_GRANT_MAX + 1);
    for (uint32_t i = 0; i < m->grant.count; i++)
        m->grant.tickets[i] = some_id(rng);
}

static void fill_join(struct bal_message *m, struct bal_rng *rng) {
    const bool v4 = bal_rng_below(rng, 2);
    m->join = (struct bal_message_join){
        .nonce = bal_rng_below(rng, 2) ? some_id(rng) : 0,
        .kind = 1 + bal_rng_below(rng, 2),
        .address = {v4 ? 4 : 6, 1 + bal_rng_below(rng, 65535), v4 ? 0 : some_id(rng), some_id(rng)}};
    m->join.address.low &= v4 ? UINT32_MAX : UINT64_MAX;
}

/* Any message that can be sent, to us. */
static struct bal_message some_message(enum bal_message_type type, struct bal_rng *rng) {
    struct bal_message m;
    memset(&m, 0, sizeof m);
    m.type = type;
    m.fleet = FLEET;
    m.sender = some_id(rng);
    m.receiver = bal_rng_below(rng, 4) ? ME : BAL_EVERYONE;
    m.boot = some_id(rng);
    m.sequence = some_id(rng);
    switch (type) {
    case BAL_MSG_IDLE:
        fill_idle(&m, rng);
        break;
    case BAL_MSG_JOIN:
        fill_join(&m, rng);
        break;
    case BAL_MSG_LOAD:
        fill_load(&m, rng);
        break;
    case BAL_MSG_POWER:
        m.power.power = bal_rng_below(rng, BAL_POWER_DRAINING + 1);
        m.power.failures = small_or_any(rng, 0, UINT32_MAX);
        m.power.retry_ms = small_or_any(rng, 0, BAL_VALID_MAX);
        m.power.valid_ms = small_or_any(rng, 1, BAL_VALID_MAX);
        break;
    case BAL_MSG_PROBE:
        m.probe.probe = some_id(rng);
        break;
    case BAL_MSG_MOVE:
        m.move.target = some_id(rng);
        break;
    case BAL_MSG_STEAL:
        m.steal.steal = some_id(rng);
        m.steal.most = small_or_any(rng, 1, UINT32_MAX);
        break;
    case BAL_MSG_GRANT:
        fill_grant(&m, rng);
        break;
    case BAL_MSG_BACKLOG:
        m.backlog.held = small_or_any(rng, 0, UINT32_MAX);
        m.backlog.valid_ms = small_or_any(rng, 1, BAL_VALID_MAX);
        break;
    case BAL_MSG_PACE:
        m.pace.beat_ms = small_or_any(rng, 1, BAL_VALID_MAX);
        break;
    case BAL_MSG_STOP:
        m.stop.after_ms = small_or_any(rng, 0, BAL_VALID_MAX);
        break;
    case BAL_MSG_CHALLENGE:
    case BAL_MSG_PROOF:
        m.nonce.nonce = some_id(rng);
        break;
    case BAL_MSG_START:
    case BAL_MSG_RESYNC:
        break;
    }
    return m;
}

static void every_message_comes_back(void **state) {
    (void)state;
    const struct bal_key key = some_key();
    struct bal_receiver ear;
    bal_receiver_init(&ear, FLEET, ME, &key);
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (unsigned i = 0; i < 22000; i++) {
        const struct bal_message m =
            some_message((enum bal_message_type)(BAL_MSG_IDLE + i % BAL_MSG_PROOF), &rng);
        assert_null(bal_message_fault(&m));
        uint8_t bytes[BAL_DATAGRAM_MAX];
        const size_t size = bal_message_encode(&m, &key, bytes);
        assert_true(size > 0 && size <= BAL_DATAGRAM_MAX);
        struct bal_message back;
        memset(&back, 0, sizeof back);
        assert_int_equal(bal_receiver_open(&ear, bytes, size, &back), BAL_RECEIPT_FRESH);
        assert_memory_equal(&back, &m, sizeof m);
    }
    for (int i = 0; i < BAL_RECEIPTS; i++)
        assert_int_equal(ear.counts[i], 0);
}

/* With a key, and with the one that everybody has: damage is seen either way. */
static void every_flipped_bit_is_refused(void **state) {
    (void)state;
    const struct bal_key keys[] = {some_key(), bal_key_none()};
    struct bal_rng rng;
    bal_rng_init(&rng, 2, 0, BAL_STREAM_TEST);
    for (unsigned i = 0; i < 2 * BAL_MSG_PROOF; i++) {
        const struct bal_message m = some_message((enum bal_message_type)(BAL_MSG_IDLE + i / 2), &rng);
        struct bal_receiver ear;
        bal_receiver_init(&ear, FLEET, ME, &keys[i % 2]);
        uint8_t bytes[BAL_DATAGRAM_MAX];
        const size_t size = bal_message_encode(&m, &keys[i % 2], bytes);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            struct bal_message back;
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_not_equal(bal_receiver_open(&ear, bytes, size, &back), BAL_RECEIPT_FRESH);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_int_equal(ear.counts[BAL_RECEIPT_MALFORMED], 8); /* the first byte: no message at all */
        assert_int_equal(ear.counts[BAL_RECEIPT_VERSION], 8);
        assert_int_equal(ear.counts[BAL_RECEIPT_BAD_MAC], 8 * size - 16);
    }
}

static void every_truncation_and_extension_is_refused(void **state) {
    (void)state;
    const struct bal_key key = some_key();
    struct bal_rng rng;
    bal_rng_init(&rng, 3, 0, BAL_STREAM_TEST);
    for (unsigned i = 0; i < 4 * BAL_MSG_STOP; i++) {
        const struct bal_message m = some_message((enum bal_message_type)(BAL_MSG_IDLE + i / 4), &rng);
        struct bal_receiver ear;
        bal_receiver_init(&ear, FLEET, ME, &key);
        uint8_t bytes[2 * BAL_DATAGRAM_MAX] = {0};
        const size_t size = bal_message_encode(&m, &key, bytes);
        for (size_t cut = 0; cut < sizeof bytes; cut++) {
            if (cut == size)
                continue;
            uint8_t *exact = malloc(cut + !cut); /* the sanitizer sees a step beyond */
            assert_non_null(exact);
            memcpy(exact, bytes, cut);
            struct bal_message back;
            assert_int_not_equal(bal_receiver_open(&ear, exact, cut, &back), BAL_RECEIPT_FRESH);
            free(exact);
        }
    }
}

static void keys_do_not_open_each_other(void **state) {
    (void)state;
    const struct bal_key keys[] = {some_key(), key_of("00112233445566778899aabbccddeefe"), bal_key_none()};
    struct bal_rng rng;
    bal_rng_init(&rng, 4, 0, BAL_STREAM_TEST);
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            const struct bal_message m = some_message(BAL_MSG_IDLE, &rng);
            struct bal_message back;
            uint8_t bytes[BAL_DATAGRAM_MAX];
            struct bal_receiver ear;
            bal_receiver_init(&ear, FLEET, ME, &keys[to]);
            const size_t size = bal_message_encode(&m, &keys[from], bytes);
            assert_int_equal(bal_receiver_open(&ear, bytes, size, &back),
                             from == to ? BAL_RECEIPT_FRESH : BAL_RECEIPT_BAD_MAC);
        }
}

/* A token for another dispatcher, replayed to us, is not ours. */
static void messages_for_others_are_strays(void **state) {
    (void)state;
    const struct bal_key key = some_key();
    struct bal_receiver ear;
    bal_receiver_init(&ear, FLEET, ME, &key);
    struct bal_rng rng;
    bal_rng_init(&rng, 5, 0, BAL_STREAM_TEST);
    uint8_t bytes[BAL_DATAGRAM_MAX];
    struct bal_message m = some_message(BAL_MSG_IDLE, &rng), back;
    m.receiver = ME + 1;
    assert_int_equal(bal_receiver_open(&ear, bytes, bal_message_encode(&m, &key, bytes), &back),
                     BAL_RECEIPT_WRONG_RECEIVER);
    /* A host with several ids takes it. */
    assert_int_equal(bal_receiver_open_any(&ear, bytes, bal_message_encode(&m, &key, bytes), &back),
                     BAL_RECEIPT_FRESH);
    assert_true(back.receiver == ME + 1);
    m.receiver = ME;
    m.fleet = FLEET + 1;
    assert_int_equal(bal_receiver_open(&ear, bytes, bal_message_encode(&m, &key, bytes), &back),
                     BAL_RECEIPT_WRONG_RECEIVER);
    assert_int_equal(bal_receiver_open_any(&ear, bytes, bal_message_encode(&m, &key, bytes), &back),
                     BAL_RECEIPT_WRONG_RECEIVER);
    assert_counts(&ear, BAL_RECEIPT_WRONG_RECEIVER, 3);
}

/* What a receiver would refuse is not sent, and the member that is to blame is named. */
static void faults_are_not_sent(void **state) {
    (void)state;
    const struct bal_key key = some_key();
    uint8_t bytes[BAL_DATAGRAM_MAX];
    struct bal_message m = {.type = BAL_MSG_IDLE, .sender = 1, .boot = 1, .sequence = 1};
    m.idle = (struct bal_message_idle){.free = 1, .slots = 1, .valid_ms = 1, .token = 1};
    assert_true(bal_message_encode(&m, &key, bytes) > 0);
    m.idle.free = 2;
    assert_string_equal(bal_message_fault(&m), "free");
    assert_int_equal(bal_message_encode(&m, &key, bytes), 0);
    m.idle.free = 0;
    assert_string_equal(bal_message_fault(&m), "free");
    m.type = (enum bal_message_type)BAL_MSG_TYPES;
    assert_string_equal(bal_message_fault(&m), "type");
    m.type = (enum bal_message_type)0;
    assert_string_equal(bal_message_fault(&m), "type");
    m.type = BAL_MSG_GRANT;
    m.grant.steal = 1;
    m.grant.count = BAL_GRANT_MAX + 1;
    assert_string_equal(bal_message_fault(&m), "count");
    assert_int_equal(bal_message_encode(&m, &key, bytes), 0);
    m.grant.count = 1;
    m.grant.tickets[0] = 0;
    assert_string_equal(bal_message_fault(&m), "tickets");
    m.grant.tickets[0] = 1;
    m.sender = BAL_EVERYONE;
    assert_string_equal(bal_message_fault(&m), "sender");
}

/* ---- the window ---- */

enum { BOOTS = 4, SEQUENCES = 300 };

/* The rule said plainly: of the boot that is known alone; not farther behind than the window; each once; and
 * what was said before a proof has come already. */
struct history {
    bool came[BOOTS + 1][SEQUENCES + 1];
    uint64_t boot, newest;
};

static void literal_prove(struct history *h, uint64_t boot, uint64_t sequence) {
    h->boot = boot;
    h->newest = sequence;
    for (uint64_t i = 0; i <= SEQUENCES; i++)
        h->came[boot][i] = i <= sequence;
}

static enum bal_receipt literal_pass(struct history *h, uint64_t boot, uint64_t sequence) {
    if (h->boot && boot != h->boot)
        return BAL_RECEIPT_UNPROVEN;
    if (sequence + BAL_WINDOW <= h->newest)
        return BAL_RECEIPT_OLD;
    h->boot = boot;
    if (h->came[boot][sequence])
        return BAL_RECEIPT_REPEATED;
    h->came[boot][sequence] = true;
    if (sequence < h->newest)
        return BAL_RECEIPT_LATE;
    h->newest = sequence;
    return BAL_RECEIPT_FRESH;
}

static const uint64_t millisecond = 1000000;

/* The window asks, and is answered by that boot at once. */
static void prove(struct bal_replay_window *window, uint64_t boot, uint64_t sequence) {
    struct bal_message m = {.type = BAL_MSG_START, .sender = 7, .boot = boot, .sequence = sequence},
                       challenge;
    assert_true(bal_replay_window_challenge(window, 1, 99, &m, &challenge));
    assert_true(challenge.type == BAL_MSG_CHALLENGE && challenge.receiver == 7);
    m.type = BAL_MSG_PROOF;
    m.nonce = challenge.nonce;
    assert_int_equal(bal_replay_window_admit(window, 1, &m), BAL_RECEIPT_FRESH);
}

static void window_follows_history(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 6, 0, BAL_STREAM_TEST);
    unsigned seen[BAL_RECEIPTS] = {0};
    for (unsigned run = 0; run < 300; run++) {
        struct bal_replay_window window = {0};
        static struct history history;
        memset(&history, 0, sizeof history);
        uint32_t boot = 1, next = 1;
        for (unsigned step = 0; step < 500; step++) {
            if (next > SEQUENCES - 80 || (boot < BOOTS && bal_rng_below(&rng, 200) == 0)) {
                const uint64_t before = history.boot;
                boot = boot < BOOTS ? boot + 1 : boot;
                next = 1 + bal_rng_below(&rng, 3);
                if (before && before != boot) {
                    prove(&window, boot, next);
                    literal_prove(&history, boot, next);
                }
            }
            const uint32_t jump = bal_rng_below(&rng, 30) ? bal_rng_below(&rng, 3) : bal_rng_below(&rng, 80);
            next += jump;
            const uint32_t back = bal_rng_below(&rng, 3) ? 0 : bal_rng_below(&rng, 90);
            const uint64_t sequence = back < next ? next - back : 1;
            const uint64_t from = bal_rng_below(&rng, 20) ? boot : 1 + bal_rng_below(&rng, boot);
            const enum bal_receipt receipt = bal_replay_window_check(&window, from, sequence);
            assert_int_equal(receipt, literal_pass(&history, from, sequence));
            seen[receipt]++;
        }
    }
    assert_true(seen[BAL_RECEIPT_FRESH] > 100 && seen[BAL_RECEIPT_LATE] > 100);
    assert_true(seen[BAL_RECEIPT_OLD] > 100 && seen[BAL_RECEIPT_REPEATED] > 100);
    assert_true(seen[BAL_RECEIPT_UNPROVEN] > 100);
}

static void window_at_its_ends(void **state) {
    (void)state;
    struct bal_replay_window w = {0};
    assert_int_equal(bal_replay_window_check(&w, 1, 1), BAL_RECEIPT_FRESH);
    assert_int_equal(bal_replay_window_check(&w, 1, UINT64_MAX), BAL_RECEIPT_FRESH);
    assert_int_equal(bal_replay_window_check(&w, 1, UINT64_MAX - 63), BAL_RECEIPT_LATE);
    assert_int_equal(bal_replay_window_check(&w, 1, UINT64_MAX - 63), BAL_RECEIPT_REPEATED);
    assert_int_equal(bal_replay_window_check(&w, 1, UINT64_MAX - 64), BAL_RECEIPT_OLD);
    assert_int_equal(bal_replay_window_check(&w, UINT64_MAX, 1), BAL_RECEIPT_UNPROVEN);
    prove(&w, UINT64_MAX, 7);
    assert_int_equal(bal_replay_window_check(&w, UINT64_MAX, 7), BAL_RECEIPT_REPEATED);
    assert_int_equal(bal_replay_window_check(&w, UINT64_MAX, 6), BAL_RECEIPT_REPEATED); /* before the proof */
    assert_int_equal(bal_replay_window_check(&w, UINT64_MAX, 8), BAL_RECEIPT_FRESH);
    assert_int_equal(bal_replay_window_check(&w, 1, UINT64_MAX), BAL_RECEIPT_UNPROVEN);
}

/* Neither an earlier boot nor a later one is believed by its number, however long nothing has been heard;
 * only the answer to this challenge counts, in time, and once. */
static void boots_are_proved(void **state) {
    (void)state;
    struct bal_replay_window w = {0};
    struct bal_message m = {.type = BAL_MSG_STOP, .sender = 7, .boot = 5, .sequence = 9}, challenge, again;
    assert_int_equal(bal_replay_window_admit(&w, 0, &m), BAL_RECEIPT_FRESH);
    for (uint64_t boot = 4; boot <= 6; boot += 2) {
        m = (struct bal_message){.type = BAL_MSG_STOP, .sender = 7, .boot = boot, .sequence = 1};
        assert_int_equal(bal_replay_window_admit(&w, UINT64_MAX / 2, &m), BAL_RECEIPT_UNPROVEN);
    }
    const uint64_t now = 1000 * millisecond;
    assert_true(bal_replay_window_challenge(&w, now, 77, &m, &challenge));
    assert_false(bal_replay_window_challenge(&w, now + 1, 78, &m, &again));
    assert_true(bal_replay_window_challenge(&w, now + 20 * millisecond, 78, &m, &again));
    assert_int_equal(again.nonce.nonce, challenge.nonce.nonce);
    m.type = BAL_MSG_PROOF;
    m.nonce.nonce = 76;
    assert_int_equal(bal_replay_window_admit(&w, now, &m), BAL_RECEIPT_UNPROVEN);
    m.nonce = challenge.nonce;
    assert_int_equal(bal_replay_window_admit(&w, now + 2000 * millisecond, &m), BAL_RECEIPT_UNPROVEN);
    /* The one that is known answers: it is still there. */
    m.boot = 5;
    m.sequence = 10;
    assert_int_equal(bal_replay_window_admit(&w, now, &m), BAL_RECEIPT_FRESH);
    assert_int_equal(w.boot, 5);
    m.boot = 6;
    m.sequence = 2;
    assert_int_equal(bal_replay_window_admit(&w, now, &m), BAL_RECEIPT_UNPROVEN); /* once */
    assert_true(bal_replay_window_challenge(&w, now, 79, &m, &challenge));
    m.nonce = challenge.nonce;
    assert_int_equal(bal_replay_window_admit(&w, now, &m), BAL_RECEIPT_FRESH);
    assert_int_equal(w.boot, 6);
    assert_int_equal(bal_replay_window_check(&w, 6, 1), BAL_RECEIPT_REPEATED);
}

static void receipts_have_their_counters(void **state) {
    (void)state;
    const struct bal_key key = some_key();
    struct bal_receiver ear;
    bal_receiver_init(&ear, FLEET, ME, &key);
    struct bal_sender mouth;
    bal_sender_init(&mouth, FLEET, 7, 2);
    struct bal_replay_window window = {0};
    struct bal_message first = {.type = BAL_MSG_START, .receiver = ME}, second = first, third = first;
    bal_sender_stamp(&mouth, &first);
    bal_sender_stamp(&mouth, &second);
    bal_sender_stamp(&mouth, &third);
    assert_int_equal(third.sequence, 3);
    assert_int_equal(bal_receiver_accept(&ear, &window, &second), BAL_RECEIPT_FRESH);
    assert_int_equal(bal_receiver_accept(&ear, &window, &first), BAL_RECEIPT_LATE);
    assert_int_equal(bal_receiver_accept(&ear, &window, &second), BAL_RECEIPT_REPEATED);
    assert_int_equal(bal_receiver_accept(&ear, NULL, &third), BAL_RECEIPT_UNKNOWN_SENDER);
    third.boot = 1;
    assert_int_equal(bal_receiver_accept(&ear, &window, &third), BAL_RECEIPT_UNPROVEN);
    window.newest += BAL_WINDOW;
    assert_int_equal(bal_receiver_accept(&ear, &window, &first), BAL_RECEIPT_OLD);
    for (int i = 0; i < BAL_RECEIPTS; i++)
        assert_int_equal(
            ear.counts[i],
            i <= BAL_RECEIPT_LATE || (i >= BAL_RECEIPT_UNKNOWN_SENDER && i <= BAL_RECEIPT_UNPROVEN) ? 1 : 0);
}

/* ---- keys ---- */

static void keys_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"", "key: has 0 hexadecimal digits, not 32"},
        {"0123456789abcdef0123456789abcde", "key: has 31 hexadecimal digits, not 32"},
        {"0123456789abcdef0123456789abcdef0", "key: has 33 hexadecimal digits, not 32"},
        {"0123456789abcdeg0123456789abcdef", "key: character 16 is no hexadecimal digit"},
        {"00000000000000000000000000000000", "key: all digits are 0; that key is everybody's"},
    };
    struct bal_key key;
    struct bal_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(bal_key_parse(bad[i].text, &key, &err), BAL_OK);
        assert_string_equal(err.text, bad[i].error);
    }
    assert_int_equal(bal_key_parse("0123456789abcdef0123456789ABCDEF", &key, &err), BAL_OK);
    static const uint8_t expected[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                         0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    assert_memory_equal(key.bytes, expected, 16);
}

static void no_key_stays_at_home(void **state) {
    (void)state;
    const struct bal_key none = bal_key_none(), key = some_key();
    struct bal_error err;
    assert_int_equal(bal_key_check(&none, true, &err), BAL_OK);
    assert_int_equal(bal_key_check(&key, true, &err), BAL_OK);
    assert_int_equal(bal_key_check(&key, false, &err), BAL_OK);
    assert_int_equal(bal_key_check(&none, false, &err), BAL_E_MODEL);
    assert_true(strncmp(err.text, "key: none is given", 18) == 0);
}

/* ---- for people ---- */

static void text_is_cut_to_its_room(void **state) {
    (void)state;
    struct bal_message m = {.type = BAL_MSG_PROBE, .sender = 7, .receiver = 3, .boot = 1, .sequence = 9};
    m.probe.probe = 5;
    char whole[BAL_MESSAGE_TEXT], part[BAL_MESSAGE_TEXT];
    const size_t length = bal_message_print(&m, whole, sizeof whole);
    assert_string_equal(whole, "PROBE 7 > 3, boot 1 sequence 9: probe=5");
    for (size_t room = 1; room <= length; room++) {
        assert_int_equal(bal_message_print(&m, part, room), length);
        assert_int_equal(strlen(part), room - 1);
        assert_memory_equal(part, whole, room - 1);
    }
    m.type = BAL_MSG_GRANT;
    m.sender = m.receiver = m.boot = m.sequence = m.grant.steal = UINT64_MAX;
    m.grant.count = BAL_GRANT_MAX;
    for (int i = 0; i < BAL_GRANT_MAX; i++)
        m.grant.tickets[i] = UINT64_MAX;
    assert_true(bal_message_print(&m, whole, sizeof whole) < sizeof whole);
}

/* So that a fleet can change its key while it works: no host has to change at the same moment. */
static void of_two_keys_one_signs_and_both_are_accepted(void **state) {
    (void)state;
    struct bal_keys old_new, new_old, old;
    struct bal_error err;
    assert_int_equal(bal_keys_parse("00112233445566778899aabbccddeeff", &old, &err), BAL_OK);
    assert_false(bal_key_is_secret(&old.second));
    assert_int_equal(
        bal_keys_parse("00112233445566778899aabbccddeeff  ffeeddccbbaa99887766554433221100", &old_new, &err),
        BAL_OK);
    new_old = (struct bal_keys){old_new.second, old_new.first};
    assert_memory_equal(&old_new.first, &old.first, sizeof old.first);
    const struct bal_keys sets[] = {old, old_new, new_old, {new_old.first, bal_key_none()}};
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++) {
            struct bal_receiver ear;
            struct bal_message message = {.type = BAL_MSG_RESYNC, .sender = 7, .boot = 1, .sequence = 1};
            uint8_t bytes[BAL_DATAGRAM_MAX];
            const size_t size = bal_message_encode(&message, &sets[from].first, bytes);
            bal_receiver_init_keys(&ear, 0, 1, &sets[to]);
            const bool neighbours = from - to <= 1 && to - from <= 1; /* of one step of the change */
            const enum bal_receipt receipt = bal_receiver_open(&ear, bytes, size, &message);
            if (neighbours)
                assert_int_equal(receipt, BAL_RECEIPT_FRESH);
            if ((from <= 1) != (to <= 1) && !neighbours && (to == 0 || to == 3))
                assert_int_equal(receipt, BAL_RECEIPT_BAD_MAC);
        }
    static const char *const wrong[] = {"", "0011", "00112233445566778899aabbccddeeff 0011",
                                        "00112233445566778899aabbccddeeff 00000000000000000000000000000000",
                                        "0011 00112233445566778899aabbccddeeff"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_not_equal(bal_keys_parse(wrong[i], &old, &err), BAL_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_vectors),
        cmocka_unit_test(reads_messages_of_earlier_versions),
        cmocka_unit_test(every_message_comes_back),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_truncation_and_extension_is_refused),
        cmocka_unit_test(keys_do_not_open_each_other),
        cmocka_unit_test(messages_for_others_are_strays),
        cmocka_unit_test(faults_are_not_sent),
        cmocka_unit_test(window_follows_history),
        cmocka_unit_test(window_at_its_ends),
        cmocka_unit_test(boots_are_proved),
        cmocka_unit_test(receipts_have_their_counters),
        cmocka_unit_test(keys_are_read),
        cmocka_unit_test(no_key_stays_at_home),
        cmocka_unit_test(text_is_cut_to_its_room),
        cmocka_unit_test(of_two_keys_one_signs_and_both_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
