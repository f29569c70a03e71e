# Service times recovered from logs. A fleet of three servers, each of which serves one request at a time in the order in which
# they come: awk sends it 6000 requests, in turn, at load 0.8, and writes what nginx would log; and the truth beside it.
$ awk 'function uniform() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
>     function expo() { return -log(uniform()) }
>     BEGIN { seed = 14
>         for (i = 0; i < 6000; i++) {
>             t += 0.05 / 2.4 * expo(); size = 0.05 * expo(); s = i % 3
>             begin = free[s] > t ? free[s] : t; free[s] = begin + size; sum += size
>             printf "%.3f %.3f %.3f 10.0.0.%d:80 \"GET /%s/%d HTTP/1.1\" 200\n", 1772409600 + free[s], free[s] - t, free[s] - t, s + 1,
>                 i % 10 ? "item" : "pay", i
>         }
>         printf "%.4f\n", sum / 6000 >"truth" }' | sort -s -k 1,1 >fleet.log; cat truth
| 0.0516
$ cat >format <<'END'
> $msec $request_time $upstream_response_time $upstream_addr "$request" $status
> END
$ ballast replay fleet.log --log-format "$(cat format)" --policy jiq --policy jsq --policy round-robin --target p99=400ms
| log      6000 jobs in 2.096 min, mean service time 51.55 ms, longest 650 ms
| format   nginx: $msec $request_time $upstream_response_time $upstream_addr "$request" $status
| time     $msec (end of the request; $request_time is subtracted)
| service  $upstream_response_time (s)
|          11 jobs of service time 0 are taken as 250 us
| skipped  no line
| servers  3 ($upstream_addr)
|          each serves 1 request at a time, in order, as the log tells; no other number explains
|          it
| waiting  75 % of the logged time, at the servers; service times are recovered
|          logged: mean 206.6 ms, p99 940.1 ms; recovered: mean 51.55 ms, p99 258.3 ms
|          by the logged times these servers would have had load 3.29, by the recovered ones 0.82
| span     2026-03-02 00:00:00 to 2026-03-02 00:02:05 UTC
| sizes    p50 35.93 ms, p99 257.7 ms, squared coefficient of variation 1.06
| arrivals 47.71 a second, 64 in the busiest 1 s
| fleet    3 servers: load 0.82, in the busiest 1 s (from 00:00:27) 1.39
|          no --servers given: as many as the log names
|
| policy            mean, ms         p50        p99  other logs  waits   msgs    Wh  watts
| ────────────────────────────────────────────────────────────────────────────────────────
| jsq          138.92 ± 0.36  95.4 ± 1.0   600 ± 13           ?  64.8%   6.00  19.8    189
| round-robin            208         137        903           ?  73.3%      0  19.9    189
| jiq            167.6 ± 5.5     102 ± 1  908 ± 138           ?  61.9%  0.381  19.9    189
|
| Response times in ms, best p99 first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the p99 would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| In the busiest 1 s more work arrives than the fleet can do: queues grow under every policy.
|
| Servers needed for p99 ≤ 400 ms
|
| policy          servers   load  p99, ms  one fewer    Wh  watts
| ───────────────────────────────────────────────────────────────
| jsq                   4  0.615  327 ± 3        600  24.7    177
| jiq                   5  0.492  290 ± 3        404  29.6    170
| round-robin  6 (5 to 7)  0.410      320        411  34.5    165
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their p99). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.

# Both are there for programs, and what every number rests on.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 1 --format json | jq -c '.times, .results[0].service_times, .spec.servers'
| {"kind":"recovered","doubtful":false,"logged":{"mean":0.20660545833333271,"p99":0.9400548354166638},"used":{"mean":0.05154862500549933,"p99":0.2582568229166659},"waiting_share":0.7504972742935381,"waiting_share_ci":null,"server_field":"$upstream_addr","servers":3,"servers_seen":3,"slots":1,"slots_given":false,"slots_told":false,"slots_low":1,"slots_high":1,"overtaking":0,"dependence":1.03054380987685,"logged_load":3.285422845223982,"load":0.8197219549816631,"unserved":0,"abandoned":0}
| "recovered"
| "3"
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 1 --format csv | tr ',' '\n' | grep -c recovered
| 1

# Slots that are given hold, also when the log speaks against them, which is said.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 1 --slots 2 | sed -n '/^servers/,/^span/p'
| servers  3 ($upstream_addr)
|          each serves 2 requests at a time, in order, as --slots says, but the log speaks for 1:
|          with so many, requests that find no free slot would take 1.32 times as long as others
| waiting  56.6 % of the logged time, at the servers; service times are recovered
|          logged: mean 206.6 ms, p99 940.1 ms; recovered: mean 89.65 ms, p99 339.5 ms
|          by the logged times these servers would have had load 1.64, by the recovered ones 0.713
| span     2026-03-02 00:00:00 to 2026-03-02 00:02:05 UTC

# As logged, the times include waiting: said in the head, beside every number and as a warning.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 1 --waiting keep --target p99=400ms | sed -n '/^servers/,/^span/p;/^policy/,$p'
| servers  3 ($upstream_addr)
|          each serves 1 request at a time, in order, as the log tells; no other number explains
|          it
| waiting  75 % of the logged time, and left in it: service times include waiting (--waiting keep)
| span     2026-03-02 00:00:00 to 2026-03-02 00:02:05 UTC
| policy  mean, s  p50  p99  other logs  waits  msgs    Wh  watts  service times
| ────────────────────────────────────────────────────────────────────────────────
| jsq       138 !  125  287           ?  99.9%  6.00  69.5    199  include waiting
|
| Response times in s, best p99 first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| One replay of each policy: what its random choices change is not measured (--replications).
| other logs: where the p99 would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| Mind: service times include waiting, and so every number here rests on that; see 'waiting' above.
| The fleet is too small: 3.29 times the work that it can do arrives. Queues grow until the log ends.
| !: jsq: queues grew until the jobs ended, so that times depend on how long they came
|
| Servers needed for p99 ≤ 400 ms
|
| No number of servers will do: with no job waiting the p99 would still be 940.1 ms.
! ballast: service times include waiting, 75 % of them, and so every number is too large
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 1 --waiting keep --quiet --format csv | tr ',' '\n' | grep -c 'include waiting'
| 1
! ballast: service times include waiting, 75 % of them, and so every number is too large
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 1 --waiting keep --report r.html >/dev/null; grep -c '>include waiting<' r.html
| 1
! ballast: service times include waiting, 75 % of them, and so every number is too large
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --waiting some
! ballast: --waiting some: write remove or keep
? 2

# Without names of servers: estimated from requests that found few others.
$ cut -d ' ' -f 1,2,5- fleet.log >nameless.log
$ ballast replay nameless.log --log-format '$msec $request_time "$request" $status' --policy jsq --policy round-robin --replications 1 --servers 3 | sed -n '/^waiting/,$p'
| waiting  69 ± 5 % of the logged time, or more
|          no server is named: service times are estimated from requests that found the fewest
|          others, 1.36 on average where all found 9.79; these waited too, so that the estimate is
|          rather too long
|          logged: mean 206.6 ms, p99 940.1 ms; estimated: mean 63.73 ms, p99 279.4 ms
|          log who served a request ($upstream_addr in nginx), or name the field that says it
|          (--server-field), to have it recovered
| span     2026-03-02 00:00:00 to 2026-03-02 00:02:05 UTC
| sizes    p50 44.96 ms, p99 279.2 ms, squared coefficient of variation 1.08
| arrivals 47.71 a second, 64 in the busiest 1 s
| fleet    3 servers: load 1.01, in the busiest 1 s (from 00:01:32) 2.23
|          a server works on 1 request at a time: assumed; --slots says it
|
| policy       mean, s   p50   p99  other logs  waits  msgs    Wh  watts  service times
| ─────────────────────────────────────────────────────────────────────────────────────
| jsq           1.41 !  1.08  4.13           ?  97.5%  6.00  21.5    199  estimated
| round-robin   6.05 !  1.86  33.8           ?  88.3%     0  25.3    187  estimated
|
| Response times in s, best mean first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| One replay of each policy: what its random choices change is not measured (--replications).
| other logs: where the mean would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| Mind: service times are estimated, and so every number here rests on that; see 'waiting' above.
| The fleet is too small: 1.01 times the work that it can do arrives. Queues grow until the log ends.
| If this is the fleet that wrote the log, that cannot be: its times include waiting.
| !: jsq, round-robin: queues grew until the jobs ended, so that times depend on how long they
|    came
! ballast: 69 % of the logged time or more looks like waiting, and no server is named: service times are estimated from the lightly loaded part of the log; see 'waiting' in the head
$ ballast replay nameless.log --log-format '$msec $request_time "$request" $status' --policy jsq --replications 1 --servers 3 --format json | jq -c '.times.kind, .results[0].service_times'
| "estimated"
| "estimated"
! ballast: 69 % of the logged time or more looks like waiting, and no server is named: service times are estimated from the lightly loaded part of the log; see 'waiting' in the head

# With names, but whole seconds: the order of lines tells the rest.
$ sed 's/[.][0-9]* / /' fleet.log >seconds.log; head -1 seconds.log
| 1772409600 0.009 0.009 10.0.0.1:80 "GET /pay/0 HTTP/1.1" 200
$ ballast replay seconds.log --log-format "$(cat format)" --policy jsq --replications 2 | sed -n '/^servers/,/^span/p'
| servers  3 ($upstream_addr)
|          each serves 1 request at a time, in order, by the order of lines, or 1 to 2, which
|          would make the mean service time 51.16 ms to 89.15 ms
| waiting  75.2 % of the logged time, at the servers; service times are recovered
|          logged: mean 206.6 ms, p99 940.1 ms; recovered: mean 51.16 ms, p99 276.8 ms
|          by the logged times these servers would have had load 3.26, by the recovered ones 0.807
|          times are whole seconds: by the order of lines within each; right on average, rougher
|          in percentiles
| span     2026-03-01 23:59:59 to 2026-03-02 00:02:06 UTC

# A filter does not undo what the others did: whoever waited for /item still did.
$ ballast replay fleet.log --log-format "$(cat format)" --path '^/pay' --policy jsq --replications 1 | sed -n '/^log/p;/^servers/,/^span/p'
| log      600 jobs in 2.093 min, mean service time 49.89 ms, longest 467 ms
| servers  3 ($upstream_addr)
|          each serves 1 request at a time, in order, as the log tells; no other number explains
|          it
| waiting  75 % of the logged time, at the servers; service times are recovered
|          logged: mean 204.7 ms, p99 942.6 ms; recovered: mean 49.89 ms, p99 199.3 ms
|          by the logged times these servers would have had load 3.29, by the recovered ones 0.82
| span     2026-03-02 00:00:00 to 2026-03-02 00:02:05 UTC

# More classes than two, by patterns; any percentile; money.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --policy round-robin --group pay=^/pay --group 'even=[02468]$' --target p95=300ms \
>     --cost-per-hour 0.25 | sed -n '/^classes/,$p'
| classes  pay: 10 % of jobs
|          even: 40 % of jobs
| fleet    3 servers: load 0.82, in the busiest 1 s (from 00:00:27) 1.39
|          no --servers given: as many as the log names
|
| policy            mean, ms         p50      p95       p99  other logs  waits  msgs    Wh  watts    cost
| ───────────────────────────────────────────────────────────────────────────────────────────────────────
| jsq          138.92 ± 0.36  95.4 ± 1.0  419 ± 9  600 ± 13           ?  64.8%  6.00  19.8    189  0.0262
| round-robin            208         137      614       903           ?  73.3%     0  19.9    189  0.0264
|
| Response times in ms, best p95 first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| cost: servers that are on, 0.25 an hour each.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the p95 would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| In the busiest 1 s more work arrives than the fleet can do: queues grow under every policy.
|
| Response times by class
|
| class     jobs  policy          mean, ms         p50       p95       p99
| ────────────────────────────────────────────────────────────────────────
| pay        10%  jsq          140.5 ± 1.6      97 ± 1  437 ± 22  615 ± 67
|                 round-robin          206         134       596       921
| even       40%  jsq          138.4 ± 1.7  95.4 ± 0.7  413 ± 16  591 ± 17
|                 round-robin          208         138       614       886
| (others)   50%  jsq          139.0 ± 1.1      95 ± 1   420 ± 9  609 ± 27
|                 round-robin          208         137       615       904
|
| Servers needed for p95 ≤ 300 ms
|
| policy          servers   load  p95, ms  one fewer    Wh  watts    cost
| ───────────────────────────────────────────────────────────────────────
| jsq                   4  0.615  210 ± 3        419  24.7    177  0.0349
| round-robin  4 (4 to 5)  0.615      295        614  24.7    177  0.0349
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their p95). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 2 --group pay=^/pay --format json | jq -c '.results[0].by_class[] | [.class, .jobs]'
| ["pay",600]
| [null,5400]
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 2 --group pay=^/pay --cost-per-hour 0.25 --format csv | head -1 | tr ',' '\n' | grep -c '^"class.pay\|^cost'
| 11
$ ballast replay fleet.log --class pay
! ballast: --group pay: write a name and a pattern of paths: checkout=^/checkout
? 2
$ ballast replay fleet.log --cost-per-hour much
! ballast: --cost-per-hour much: not a number from 0 to 1e9, such as 0.12
? 2

# Traffic that is sped up finds the fleet that it had.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --replications 1 --speedup 1.5 | sed -n '/^speedup/,/^settings/p;/too small/p'
| speedup  jobs come 1.5 times as fast as they were recorded, to the fleet of the recorded
|          traffic; --servers says otherwise
| fleet    3 servers: load 1.23, in the busiest 1 s (from 00:00:27) 2.08
|          no --servers given: as many as the log names
|
| policy  mean, s   p50   p99  other logs  waits  msgs    Wh  watts
| ─────────────────────────────────────────────────────────────────
| jsq      9.88 !  9.44  19.3           ?  99.9%  6.00  17.2    200
|
| Response times in s, best mean first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| One replay of each policy: what its random choices change is not measured (--replications).
| other logs: where the mean would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| The fleet is too small: 1.23 times the work that it can do arrives. Queues grow until the log ends.
| The fleet is too small: 1.23 times the work that it can do arrives. Queues grow until the log ends.
| !: jsq: queues grew until the jobs ended, so that times depend on how long they came

# A server dies in the middle of the log: how slow it gets, and how many it takes not to feel it.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --policy jiq --servers 4 --fail 1@1min --target p99=400ms | sed -n '/^policy/,$p'
| policy       mean, ms         p50        p99  other logs  waits   msgs    Wh  watts
| ───────────────────────────────────────────────────────────────────────────────────
| jsq     108.86 ± 0.54        69.1   557 ± 12           ?  47.8%   6.95  22.2    159
| jiq       127.7 ± 3.9  70.9 ± 0.6  855 ± 178           ?  45.4%  0.545  22.2    159
|
| Response times in ms, best p99 first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the p99 would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| 1 server fails after 1 min, for good; the jobs there start again on others.
| In the busiest 1 s more work arrives than the fleet can do: queues grow under every policy.
|
| Servers needed for p99 ≤ 400 ms, of which 1 fails
|
| policy     servers   load   p99, ms  one fewer    Wh  watts
| ───────────────────────────────────────────────────────────
| jsq              5  0.492  306 ± 10        557  27.1    155
| jiq     5 (5 to 6)  0.492  343 ± 15        855  27.1    155
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their p99). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --servers 4 --fail 1@busiest --replications 1 --format json | jq -c '.spec | [.failing, .fail_at > 0]'
| [1,true]
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --servers 4 --fail 4@1min
! ballast: --fail: 4 of 4 servers: some must be left; give fewer, or more with --servers
? 2
$ ballast replay fleet.log --fail now
! ballast: --fail now: write how many servers fail and when, after the first arrival: 1@30min, 1@busiest
? 2

# Fleets of several speeds: the number of one kind of servers is looked for.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jsq --policy jiq --servers 1x1,Nx2 --target mean=60ms --replications 3 | sed -n '/^fleet/p;/^Servers/,$p'
| fleet    1x1,3x2 servers: load 0.351, in the busiest 1 s (from 00:00:27) 0.594
| Servers needed for mean ≤ 60 ms, N in 1x1,Nx2
|
| policy  servers   load      mean, ms  one fewer    Wh  watts
| ────────────────────────────────────────────────────────────
| jsq           2  0.492  40.95 ± 0.81        129  17.9    171
| jiq           2  0.492    44.1 ± 1.2        343  17.9    171
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their mean). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.
$ ballast replay fleet.log --servers Nx1,Nx2 --target mean=60ms
! ballast: --servers Nx1,Nx2: only one number can be looked for; write one N, as in 4x1,Nx2
? 2
$ ballast replay fleet.log --servers 1x1,Nx2
! ballast: --servers: N is what --target looks for; add one, such as p99=200ms, or give a number
? 2

# What nginx is told.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jiq --policy jsq --policy pod:d=2 --policy round-robin --target p99=300ms --nginx | sed -n '/^# [0-9]/,$p'
| # 6000 requests, 2026-03-02 00:00:00 to 2026-03-02 00:02:05 UTC.
| # jsq on 5 servers: the best of the policies asked that the module can run.
| # By other logs like this one it would need 4 to 6 servers.
| upstream fleet {
|     ballast jsq slots=1;
|     # without the module: zone fleet 69k; least_conn;
|     server 10.0.0.1:80;
|     server 10.0.0.2:80;
|     server 10.0.0.3:80;
|     server 10.0.0.4:80; # put its address here
|     server 10.0.0.5:80; # put its address here
| }
$ ballast replay fleet.log --log-format "$(cat format)" --policy jiq --nginx --servers 2 | sed -n '/^# [0-9]/,$p'
| # 6000 requests, 2026-03-02 00:00:00 to 2026-03-02 00:02:05 UTC.
| # jiq on 2 servers: the best of the policies asked that the module can run.
| # Its queues grew until the end: this fleet is too small, whatever the policy.
| upstream fleet {
|     ballast jiq slots=1;
|     server 10.0.0.1:80;
|     server 10.0.0.2:80;
| }
$ ballast replay fleet.log --nginx --format json
! ballast: --nginx: the block is a text; leave out --format
? 2

# Requests that a proxy holds until a slot is free: one takes the place of another at the moment at which that leaves, and times that
# are cut to microseconds overlap. Six servers with a slot each served it at load 0.9, and as many it takes; not half as many.
$ cat >hold.awk <<'END'
> function uniform() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
> function expo() { return -log(uniform()) }
> function cut(x) { return sprintf("%d.%06d", x, (x - int(x)) * 1e6) }
> BEGIN {
>     seed = 3
>     for (i = 0; i < 6000; i++) {
>         t += 0.05 / 5.4 * expo(); size = 0.05 * expo(); s = 1
>         for (k = 2; k <= 6; k++)
>             if (free[k] < free[s]) s = k
>         begin = free[s] > t ? free[s] : t; free[s] = begin + size
>         printf "{\"ballast_start\":\"%s\",\"ballast_wait\":\"%s\",\"ballast_time\":\"%s\",%s\"ballast_server\":\"10.0.0.%d:80\"}\n",
>             cut(1772409600 + t), cut(begin - t), cut(size), slots, s
>     }
> }
> END
$ awk -v slots='"ballast_slots":"1",' -f hold.awk >held.json
$ ballast replay held.json --policy least-conn --target p99=600ms --replications 1 | sed -n '/^servers/,/^waiting/p; /^Servers/,/^least-conn/p' | grep -v waiting
| servers  6 (ballast_server)
|          each serves 1 request at a time, in order, as the log says ($ballast_slots)
| Servers needed for p99 ≤ 600 ms
|
| policy      servers   load  p99, ms  one fewer    Wh  watts
| ───────────────────────────────────────────────────────────
| least-conn    6 (?)  0.920      532       6243  17.8    195
$ awk -f hold.awk >silent.json
$ ballast replay silent.json --policy least-conn --target p99=600ms --replications 1 | sed -n '/^servers/,/^waiting/p; /^Servers/,/^least-conn/p' | grep -v waiting
| servers  6 (ballast_server)
|          each serves 1 request at a time, in order, or more, which the log does not tell: hardly
|          any request finds so many; this is a guess, and --slots says it
| Servers needed for p99 ≤ 600 ms, 1 slot each (a guess)
|
| policy      servers   load  p99, ms  one fewer    Wh  watts
| ───────────────────────────────────────────────────────────
| least-conn    6 (?)  0.920      532       6243  17.8    195
! ballast: how many requests a server works on at a time is a guess, 1, and decides how many servers are needed; say it with --slots, or log it ($ballast_slots)

# Times of classes where requests are held, or stand in one common queue.
$ ballast replay fleet.log --log-format "$(cat format)" --policy jiq:else=hold --policy delayed-off --replications 1 --group pay=^/pay | sed -n '/^class/,$p'
| classes  pay: 10 % of jobs
| fleet    3 servers: load 0.82, in the busiest 1 s (from 00:00:27) 1.39
|          no --servers given: as many as the log names
| settings standby det(60), setup det(30)
|
| policy         mean, ms   p50  p99   other logs  waits  msgs    Wh  watts
| ─────────────────────────────────────────────────────────────────────────
| delayed-off         129  92.8  529  95.9 to 174  68.6%     0  19.8    189
| jiq:else=hold       129  92.8  529  95.9 to 174  68.2%  1.00  19.8    189
|
| Response times in ms, best mean first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| One replay of each policy: what its random choices change is not measured (--replications).
| other logs: where the mean would lie in 95 % of other logs like this one.
| In the busiest 1 s more work arrives than the fleet can do: queues grow under every policy.
| delayed-off switches servers off after 1 min idle and on in 30 s: 19.8 Wh, as much as jiq:else=hold (19.8),
|   whose servers are always on; p99 529 ms compared with 529.
| delayed-off hardly ever finds a server idle for 1 min, as each gets a job every 62.89 ms on average;
|   a shorter --standby may save more.
|
| Response times by class
|
| class     jobs  policy         mean, ms   p50  p99
| ──────────────────────────────────────────────────
| pay        10%  delayed-off         128  96.0  522
|                 jiq:else=hold       128  96.0  522
| (others)   90%  delayed-off         130  92.7  532
|                 jiq:else=hold       130  92.7  532
