// SPDX-License-Identifier: BSD-2-Clause
// An event loop for bench/apps: each request waits for others (30 ms in the mean, without blocking), and then
// signs its answer on the loop, 5 ms of processor time in the mean. Both are exponential.
// usage: node bench/apps.js PORT. Prints a line when it listens.
'use strict';
const crypto = require('crypto');
const http = require('http');

const draw = (mean) => -mean * Math.log(1 - Math.random());
const sign = (steps) => crypto.pbkdf2Sync('answer', 'key', steps, 32, 'sha256');

let perMillisecond = 0; // the best of some tries
for (let i = 0; i < 10; i++) {
    const begun = process.hrtime.bigint();
    sign(20000);
    perMillisecond = Math.max(perMillisecond, 20000 / (Number(process.hrtime.bigint() - begun) / 1e6));
}
const server = http.createServer((request, response) => {
    setTimeout(() => {
        sign(1 + Math.floor(draw(5) * perMillisecond));
        response.end('ok\n');
    }, draw(30));
});
server.listen(Number(process.argv[2]), '127.0.0.1', 1024, () => console.log('listens'));
