/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams: they pass through the wire as bytes, and are delayed, lost, doubled, reordered and damaged. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

static uint32_t new_datagram(struct world *w) {
    if (w->free_datagram != NOBODY) {
        const uint32_t i = w->free_datagram;
        w->free_datagram = w->datagram[i].next_free;
        return i;
    }
    if ((w->datagrams & (w->datagrams - 1)) == 0) {
        const size_t room = w->datagrams ? 2 * (size_t)w->datagrams : 1;
        w->datagram = realloc(w->datagram, room * sizeof *w->datagram);
        if (!w->datagram)
            abort();
    }
    return w->datagrams++;
}

void world_send_bytes(struct world *w, uint32_t to, const uint8_t *bytes, size_t size) {
    const uint32_t i = new_datagram(w);
    memcpy(w->datagram[i].bytes, bytes, size);
    w->datagram[i].size = (uint32_t)size;
    if (world_chance(w, w->weather.damage))
        w->datagram[i].bytes[bal_rng_below(&w->rng, (uint32_t)size)] ^=
            (uint8_t)(1u << bal_rng_below(&w->rng, 8));
    world_at(w, w->now + 1 + world_time(w, w->weather.delay),
             (struct event){.what = DATAGRAM, .host = to, .bytes = i});
}

static void send_to(struct world *w, const struct host *from, uint32_t to, const uint8_t *bytes,
                    size_t size) {
    const uint32_t number = number_of(w, from);
    replay_record(w, to, bytes, size);
    replay_some(w);
    replay_answer(w, number, to, bytes);
    if (world_chance(w, w->weather.loss) || w->cut[number][to] || w->lost[number][to] || from->mute ||
        w->host[to].deaf)
        return;
    world_send_bytes(w, to, bytes, size);
    if (world_chance(w, w->weather.doubling))
        world_send_bytes(w, to, bytes, size);
}

void world_post_near(struct world *w, uint32_t host, bool to_keeper, const struct bal_message *message) {
    const uint32_t i = new_datagram(w);
    w->datagram[i].size = (uint32_t)bal_message_encode(message, &w->key, w->datagram[i].bytes);
    if (w->trace || w->digest) {
        char text[BAL_MESSAGE_TEXT];
        bal_message_print(message, text, sizeof text);
        world_note(w, "says %s", text);
    }
    if (world_chance(w, w->weather.loss)) { /* the queue of a socket is full */
        w->datagram[i].next_free = w->free_datagram;
        w->free_datagram = i;
        return;
    }
    world_at(w, w->now + 1 + world_time(w, 50 * US),
             (struct event){.what = DATAGRAM, .host = host, .leg = to_keeper, .bytes = i});
}

void world_post(struct world *w, struct host *from, const struct bal_message *message) {
    if (w->keepers && from->kind == STATION_HOST && message->receiver == KEEPER_ID + from->index) {
        if (message->type == BAL_MSG_STOP)
            twin_rests(w, from);
        world_post_near(w, number_of(w, from), true, message);
        return;
    }
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const size_t size = bal_message_encode(message,
                                           from->wrong_key ? &w->other_key
                                           : from->swapped ? &w->second_key
                                                           : &w->key,
                                           bytes);
    if (size == 0)
        world_break(w, "host %u says what cannot be said: %s", number_of(w, from),
                    bal_message_fault(message));
    from->sent[message->type]++;
    twin_said(w, from, message);
    if (w->trace || w->digest) {
        char text[BAL_MESSAGE_TEXT];
        bal_message_print(message, text, sizeof text);
        world_note(w, "says %s", text);
    }
    for (uint32_t to = 0; to < w->hosts; to++) {
        const struct host *h = &w->host[to];
        const bool for_all = message->receiver == BAL_EVERYONE && h->kind != from->kind &&
                             !(from->kind == DISPATCHER_HOST && from->absent == h->index);
        if (for_all || message->receiver == h->id)
            send_to(w, from, to, bytes, size);
    }
}

void world_hear_riding(struct world *w, struct host *h, const struct bal_message *message) {
    const uint32_t worker = host_any(w, h);
    if (worker == NOBODY)
        return;
    op_begin(w, h);
    bal_dispatcher_receive_piggyback(h->worker[worker].view, host_now(w, h), message);
    op_end(w, h, worker);
}

enum bal_receipt world_hear(struct world *w, struct host *h, const struct bal_message *message) {
    const uint32_t worker = host_any(w, h);
    if (worker == NOBODY)
        return BAL_RECEIPTS;
    void *view = h->worker[worker].view;
    op_begin(w, h);
    const enum bal_receipt receipt = h->kind == DISPATCHER_HOST
                                         ? bal_dispatcher_receive(view, host_now(w, h), message)
                                         : bal_station_receive(view, host_now(w, h), message);
    return op_end(w, h, worker) ? receipt : BAL_RECEIPTS;
}

void world_deliver(struct world *w, const struct event *event) {
    struct host *h = &w->host[event->host];
    const struct datagram datagram = w->datagram[event->bytes];
    w->datagram[event->bytes].next_free = w->free_datagram;
    w->free_datagram = event->bytes;
    struct bal_message message;
    if (event->leg) {
        struct bal_receiver ear;
        bal_receiver_init(&ear, FLEET, KEEPER_ID + h->index, &w->key);
        if (bal_receiver_open(&ear, datagram.bytes, datagram.size, &message) == BAL_RECEIPT_FRESH)
            power_hear(w, h->index, &message);
        return;
    }
    if (!h->up || bal_receiver_open(&h->ear, datagram.bytes, datagram.size, &message) != BAL_RECEIPT_FRESH)
        return;
    twin_hear(w, h, &message);
}
