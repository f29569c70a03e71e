/* SPDX-License-Identifier: BSD-2-Clause */
/* Members: what include/ballast/live/join.h promises, at a station; tests/live/world has both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/live/station.h"

#define MS UINT64_C(1000000)
enum { ME = 100, SILENT_MS = 1000 };

struct fixture {
    void *block;
    struct bal_station *s;
    uint64_t now, sequence;
};

static struct bal_address address_of(uint32_t host) {
    return (struct bal_address){4, 7700, 0, 0x0a000000 + host};
}

static uint64_t id_of(const struct bal_address *address) {
    char text[BAL_ADDRESS_TEXT];
    return bal_address_id(text, bal_address_print(address, text));
}

static struct fixture begin(uint32_t most) {
    const struct bal_station_config config = {
        .workers = 1,
        .slots = 2,
        .queue = 8,
        .peers = most + 8,
        .beat_ns = 100 * MS,
        .id = ME,
        .boot = 1,
        .join = {
            .most = most, .ranges = 1, .range = {{{4, 0, 0, 0x0a000000}, 8}}, .silent_ns = SILENT_MS * MS}};
    struct bal_error err = {0};
    struct fixture f = {.now = 10000 * MS};
    assert_int_equal(bal_station_check(&config, &err), BAL_OK);
    f.block = aligned_alloc(64, bal_station_size(&config));
    f.s = malloc(bal_station_view_size(&config));
    assert_non_null(f.block);
    assert_non_null(f.s);
    bal_station_create(f.block, &config, f.now);
    assert_int_equal(bal_station_open(f.s, f.block, 3, &err), BAL_OK);
    assert_int_equal(bal_station_join(f.s, f.now, 1, 1, &err), BAL_OK);
    assert_int_equal(bal_station_configure(f.s, f.now, NULL, 0, NULL, 0, &err), BAL_OK);
    return f;
}

static void end(struct fixture *f) {
    assert_null(bal_station_find_inconsistency(f->s));
    free(f->s);
    free(f->block);
}

static struct bal_message join_of(struct fixture *f, struct bal_address address, uint64_t boot,
                                  uint64_t nonce) {
    return (struct bal_message){.type = BAL_MSG_JOIN,
                                .sender = id_of(&address),
                                .receiver = ME,
                                .boot = boot,
                                .sequence = ++f->sequence,
                                .join = {nonce, BAL_JOIN_DISPATCHER, address}};
}

static enum bal_receipt hear(struct fixture *f, const struct bal_message *message) {
    const enum bal_receipt receipt = bal_station_receive(f->s, f->now, message);
    assert_null(bal_station_find_inconsistency(f->s));
    return receipt;
}

/* The number of the challenge that was sent last; 0: none was. */
static uint64_t challenge(struct fixture *f) {
    uint32_t count;
    const struct bal_message *out = bal_station_outgoing(f->s, &count);
    uint64_t nonce = 0;
    for (uint32_t i = 0; i < count; i++)
        if (out[i].type == BAL_MSG_CHALLENGE)
            nonce = out[i].nonce.nonce;
    return nonce;
}

static uint32_t members(const struct fixture *f) {
    struct bal_member member[4];
    return bal_station_members(f->s, member, 4);
}

/* As it is meant: returns the message that was accepted. */
static struct bal_message let_in(struct fixture *f, uint32_t host, uint64_t boot) {
    const struct bal_message first = join_of(f, address_of(host), boot, 0);
    assert_int_equal(hear(f, &first), BAL_RECEIPT_UNPROVEN);
    const struct bal_message second = join_of(f, address_of(host), boot, challenge(f));
    assert_int_equal(hear(f, &second), BAL_RECEIPT_FRESH);
    return second;
}

static void pass(struct fixture *f, uint64_t ms) {
    f->now += ms * MS;
    bal_station_run_timers(f->s, f->now);
    challenge(f);
}

/* ---- tests ---- */

static void addresses_are_text_as_in_rfc_5952(void **state) {
    (void)state;
    static const struct {
        struct bal_address address;
        const char *text;
    } rows[] = {
        {{4, 80, 0, 0x0a00000b}, "10.0.0.11:80"},
        {{6, 8080, UINT64_C(0xfd) << 56, 0x11}, "[fd00::11]:8080"},
        {{6, 1, 0, 1}, "[::1]:1"},
        {{6, 65535, UINT64_C(0x20010db800000000), UINT64_C(1) << 48}, "[2001:db8:0:0:1::]:65535"},
        {{6, 1, UINT64_C(0x20010db800000001), UINT64_C(0x0001000100010001)}, "[2001:db8:0:1:1:1:1:1]:1"},
        {{6, 1, UINT64_C(0x2001000000000000), 0}, "[2001::]:1"},
        {{6, 1, UINT64_C(0xffffffffffffffff), UINT64_MAX}, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[BAL_ADDRESS_TEXT];
        assert_int_equal(bal_address_print(&rows[i].address, text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

static void only_one_machine_is_an_address(void **state) {
    (void)state;
    static const struct {
        struct bal_address address;
        bool valid;
    } rows[] = {
        {{4, 80, 0, 0x0a00000b}, true},
        {{4, 80, 0, 0x7f000001}, true},
        {{4, 0, 0, 0x0a00000b}, false},
        {{4, 65536, 0, 0x0a00000b}, false},
        {{4, 80, 0, 0}, false},
        {{4, 80, 0, 0xe0000001}, false},
        {{4, 80, 0, 0xffffffff}, false},
        {{4, 80, 1, 0x0a00000b}, false},
        {{6, 80, 0, 1}, true},
        {{6, 80, 0, 0}, false},
        {{6, 80, 0, 0xffff0a00000b}, false},
        {{6, 80, UINT64_C(0xff02) << 48, 1}, false},
        {{5, 80, 0, 1}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(bal_address_is_valid(&rows[i].address), rows[i].valid);
}

static void ranges_contain_their_networks(void **state) {
    (void)state;
    const struct bal_address_range net = {{4, 0, 0, 0x0a010000}, 16}, any = {{4, 0, 0, 0}, 0};
    const struct bal_address_range v6 = {{6, 0, UINT64_C(0xfd) << 56, 0}, 8};
    const struct bal_address_range host = {{6, 0, 0, 1}, 128}, odd = {{6, 0, 1, UINT64_C(1) << 63}, 65};
    const struct bal_address in = {4, 1, 0, 0x0a01ffff}, out = {4, 1, 0, 0x0a020000};
    const struct bal_address six = {6, 1, UINT64_C(0xfdff) << 48, 7}, one = {6, 1, 0, 1};
    const struct bal_address above = {6, 1, 1, UINT64_MAX}, below = {6, 1, 1, 1};
    assert_true(bal_address_range_contains(&net, &in));
    assert_false(bal_address_range_contains(&net, &out));
    assert_true(bal_address_range_contains(&any, &out));
    assert_false(bal_address_range_contains(&any, &one));
    assert_true(bal_address_range_contains(&v6, &six));
    assert_false(bal_address_range_contains(&v6, &one));
    assert_true(bal_address_range_contains(&host, &one));
    assert_true(bal_address_range_contains(&odd, &above));
    assert_false(bal_address_range_contains(&odd, &below));
}

static void a_proof_lets_in(void **state) {
    (void)state;
    struct fixture f = begin(2);
    const uint64_t version = bal_station_members_version(f.s);
    const struct bal_message probe = {.type = BAL_MSG_PROBE,
                                      .sender = id_of(&(struct bal_address){4, 7700, 0, 0x0a000001}),
                                      .receiver = ME,
                                      .boot = 5,
                                      .sequence = 20,
                                      .probe = {.probe = 9}};
    assert_int_equal(hear(&f, &probe), BAL_RECEIPT_UNPROVEN); /* it may be about to join */
    assert_int_equal(challenge(&f), 0);
    const struct bal_message joined = let_in(&f, 1, 5);
    assert_int_equal(members(&f), 1);
    assert_true(bal_station_members_version(f.s) > version);
    assert_int_equal(bal_station_silent_for(f.s, f.now, joined.sender), 0);
    assert_int_equal(hear(&f, &probe), BAL_RECEIPT_FRESH);
    assert_int_equal(hear(&f, &joined), BAL_RECEIPT_REPEATED);
    end(&f);
}

static void silence_ends_it_and_signs_of_life_do_not(void **state) {
    (void)state;
    struct fixture f = begin(2);
    let_in(&f, 1, 5);
    for (int i = 0; i < 5; i++) {
        const struct bal_message alive = join_of(&f, address_of(1), 5, 0);
        pass(&f, SILENT_MS - 1);
        assert_int_equal(hear(&f, &alive), BAL_RECEIPT_FRESH);
    }
    assert_int_equal(members(&f), 1);
    pass(&f, SILENT_MS + 100);
    assert_int_equal(members(&f), 0);
    end(&f);
}

/* What was recorded: the first message gets another challenge, the second one nothing, once the member that
 * said it has left. */
static void what_was_recorded_lets_no_one_in(void **state) {
    (void)state;
    struct fixture f = begin(2);
    const struct bal_message joined = let_in(&f, 1, 5);
    pass(&f, SILENT_MS + 100);
    assert_int_equal(members(&f), 0);
    assert_int_equal(hear(&f, &joined), BAL_RECEIPT_UNPROVEN);
    assert_int_equal(members(&f), 0);
    const struct bal_message held_back = join_of(&f, address_of(2), 6, 0);
    assert_int_equal(hear(&f, &held_back), BAL_RECEIPT_UNPROVEN);
    const struct bal_message late = join_of(&f, address_of(2), 6, challenge(&f));
    pass(&f, 4000);
    assert_int_equal(hear(&f, &late), BAL_RECEIPT_UNPROVEN);
    const struct bal_message other = join_of(&f, address_of(3), 6, challenge(&f)); /* another one's number */
    assert_int_equal(hear(&f, &other), BAL_RECEIPT_UNPROVEN);
    const struct bal_message reboot = join_of(&f, address_of(2), 7, late.join.nonce);
    assert_int_equal(hear(&f, &reboot), BAL_RECEIPT_UNPROVEN);
    assert_int_equal(members(&f), 0);
    end(&f);
}

static void there_is_a_bound_and_a_range(void **state) {
    (void)state;
    struct fixture f = begin(1);
    const struct bal_address outside = {4, 7700, 0, 0x0b000001};
    const struct bal_message far = join_of(&f, outside, 5, 0);
    assert_int_equal(hear(&f, &far), BAL_RECEIPT_REFUSED);
    struct bal_message liar = join_of(&f, address_of(1), 5, 0);
    liar.join.address = address_of(2); /* not that of its id */
    assert_int_equal(hear(&f, &liar), BAL_RECEIPT_REFUSED);
    struct bal_message station = join_of(&f, address_of(1), 5, 0);
    station.join.kind = BAL_JOIN_STATION;
    assert_int_equal(hear(&f, &station), BAL_RECEIPT_REFUSED);
    assert_int_equal(challenge(&f), 0);
    let_in(&f, 1, 5);
    const struct bal_message second = join_of(&f, address_of(2), 6, 0);
    assert_int_equal(hear(&f, &second), BAL_RECEIPT_REFUSED);
    assert_int_equal(challenge(&f), 0);
    pass(&f, SILENT_MS + 100);
    let_in(&f, 2, 6);
    end(&f);
}

static void challenges_are_few(void **state) {
    (void)state;
    struct fixture f = begin(4);
    uint32_t sent = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        const struct bal_message m = join_of(&f, address_of(1 + i), 5, 0);
        assert_int_equal(hear(&f, &m), BAL_RECEIPT_UNPROVEN);
        sent += challenge(&f) != 0;
    }
    assert_int_equal(sent, BAL_JOIN_CHALLENGES);
    f.now += 50 * MS;
    let_in(&f, 1, 5);
    end(&f);
}

/* Who repeats what one sender has said keeps one group of senders out, and the next time another one. */
static void one_recorded_join_leaves_challenges_for_others(void **state) {
    (void)state;
    struct fixture f = begin(4);
    uint32_t answered = 0, others = 0;
    const struct bal_message recorded = join_of(&f, address_of(1), 5, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        hear(&f, &recorded);
        answered += challenge(&f) != 0;
    }
    assert_int_equal(answered, 1);
    for (uint32_t i = 0; i < 5; i++) {
        const struct bal_message m = join_of(&f, address_of(2 + i), 5, 0);
        hear(&f, &m);
        others += challenge(&f) != 0;
    }
    assert_true(others >= 3); /* of five groups among 32, three the same or the recorded one's: below 1e-3 */
    end(&f);
}

static void those_of_the_block_before_are_members_from_the_start(void **state) {
    (void)state;
    struct fixture f = begin(2);
    struct bal_error err;
    struct bal_member before[6];
    const struct bal_address outside = {4, 7700, 0, 0x0b000001}, broken = {4, 0, 0, 0x0a000001};
    for (uint32_t i = 0; i < 6; i++) {
        const struct bal_address address = i == 1 ? outside : i == 2 ? broken : address_of(1 + i);
        before[i] = (struct bal_member){id_of(&address), address};
    }
    before[3].id++; /* torn */
    const uint64_t listed = before[0].id;
    assert_int_equal(bal_station_configure(f.s, f.now, &listed, 1, NULL, 0, &err), BAL_OK);
    bal_station_adopt_members(f.s, f.now, before, 6);
    assert_null(bal_station_find_inconsistency(f.s));
    assert_int_equal(members(&f), 2);
    const struct bal_message probe = {.type = BAL_MSG_PROBE,
                                      .sender = before[4].id,
                                      .receiver = ME,
                                      .boot = 9,
                                      .sequence = 3,
                                      .probe = {.probe = 9}};
    assert_int_equal(hear(&f, &probe), BAL_RECEIPT_FRESH);
    bal_station_adopt_members(f.s, f.now, &before[4], 2); /* they are there already */
    assert_int_equal(members(&f), 2);
    pass(&f, SILENT_MS + 100);
    assert_int_equal(members(&f), 0);
    end(&f);
}

/* However many there are. */
static void each_member_gets_its_heartbeat(void **state) {
    (void)state;
    enum { MANY = 1000 };
    struct fixture f = begin(MANY);
    static struct bal_member many[MANY];
    uint32_t count, heard = 0;
    for (uint32_t i = 0; i < MANY; i++)
        many[i] = (struct bal_member){.address = address_of(1 + i)};
    for (uint32_t i = 0; i < MANY; i++)
        many[i].id = id_of(&many[i].address);
    bal_station_adopt_members(f.s, f.now, many, MANY);
    bal_station_outgoing(f.s, &count);
    f.now += 100 * MS;
    bal_station_run_timers(f.s, f.now);
    const struct bal_message *out = bal_station_outgoing(f.s, &count);
    for (uint32_t i = 0; i < count; i++)
        heard += out[i].type == BAL_MSG_LOAD || out[i].type == BAL_MSG_IDLE;
    assert_true(heard >= MANY);
    assert_int_equal(bal_station_counts(f.s).unsent, 0);
    end(&f);
}

static void without_join_no_one_is_let_in(void **state) {
    (void)state;
    struct fixture f = begin(0);
    const struct bal_message m = join_of(&f, address_of(1), 5, 0);
    assert_int_equal(hear(&f, &m), BAL_RECEIPT_UNKNOWN_SENDER);
    assert_int_equal(challenge(&f), 0);
    end(&f);
}

/* A member that is listed stays, and is not forgotten any longer. */
static void a_member_may_be_listed(void **state) {
    (void)state;
    struct fixture f = begin(1);
    struct bal_error err;
    const uint64_t id = let_in(&f, 1, 5).sender;
    assert_int_equal(bal_station_configure(f.s, f.now, &id, 1, NULL, 0, &err), BAL_OK);
    assert_int_equal(members(&f), 0);
    pass(&f, 10 * SILENT_MS);
    const struct bal_message probe = {.type = BAL_MSG_PROBE,
                                      .sender = id,
                                      .receiver = ME,
                                      .boot = 5,
                                      .sequence = 99,
                                      .probe = {.probe = 9}};
    assert_int_equal(hear(&f, &probe), BAL_RECEIPT_FRESH);
    let_in(&f, 2, 6); /* it takes no place of a member */
    assert_int_equal(bal_station_configure(f.s, f.now, NULL, 0, NULL, 0, &err), BAL_OK);
    assert_int_equal(members(&f), 1);
    end(&f);
}

/* One that comes back to the same station knows earlier offers by their numbers. */
static void offers_go_on_where_they_were(void **state) {
    (void)state;
    struct fixture f = begin(1);
    uint32_t open;
    const uint64_t id = let_in(&f, 1, 5).sender;
    pass(&f, 100);
    const uint64_t before = bal_station_offered(f.s, id, &open);
    assert_true(before > 0);
    pass(&f, SILENT_MS + 100);
    assert_int_equal(bal_station_offered(f.s, id, &open), 0);
    let_in(&f, 1, 5);
    assert_true(bal_station_offered(f.s, id, &open) >= before + open);
    assert_true(open > 0);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_text_as_in_rfc_5952),
        cmocka_unit_test(only_one_machine_is_an_address),
        cmocka_unit_test(ranges_contain_their_networks),
        cmocka_unit_test(a_proof_lets_in),
        cmocka_unit_test(silence_ends_it_and_signs_of_life_do_not),
        cmocka_unit_test(what_was_recorded_lets_no_one_in),
        cmocka_unit_test(there_is_a_bound_and_a_range),
        cmocka_unit_test(challenges_are_few),
        cmocka_unit_test(one_recorded_join_leaves_challenges_for_others),
        cmocka_unit_test(those_of_the_block_before_are_members_from_the_start),
        cmocka_unit_test(each_member_gets_its_heartbeat),
        cmocka_unit_test(without_join_no_one_is_let_in),
        cmocka_unit_test(a_member_may_be_listed),
        cmocka_unit_test(offers_go_on_where_they_were),
    };
    return cmocka_run_group_tests_name("tests", tests, NULL, NULL);
}
