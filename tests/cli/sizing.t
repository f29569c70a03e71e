# ballast replay: what an engineer asks next. A fleet of four servers would do: for 100 minutes a request of about half a second comes
# every 200 ms or so, to one of three kinds of pages.
$ awk 'function uniform() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
>     function expo() { return -log(uniform()) }
>     BEGIN { seed = 14; print "start,duration_s,path"
>         for (i = 0; i < 30000; i++) { t += 0.2 * expo()
>             printf "%.3f,%.6f,/%s/%d\n", 1772409600 + t, 0.5 * expo(), i % 10 ? i % 3 ? "item" : "search" : "pay", i } }' >shop.csv

# Any percentile, in its place among the others; how sure the answer is, as far as the log itself goes.
$ ballast replay shop.csv --policy jsq --policy random --target p95=2s --servers 5 | sed -n '/^policy/,$p'
| policy       mean, ms      p50        p95         p99    other logs  waits  msgs   kWh  watts
| ─────────────────────────────────────────────────────────────────────────────────────────────
| jsq     562.75 ± 0.71      393       1677   2597 ± 18  1635 to 1716  10.5%  10.0  1.42    170
| random   1025.2 ± 7.2  711 ± 4  3087 ± 54  4747 ± 107  2905 to 3265  50.4%     0  1.42    170
|
| Response times in ms, best p95 first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the p95 would lie in 95 % of other logs like this one.
|
| Servers needed for p95 ≤ 2 s, 1 slot each (assumed)
|
| policy        servers   load    p95, ms  one fewer   kWh  watts
| ───────────────────────────────────────────────────────────────
| jsq        5 (4 to 5)  0.505       1677       2006  1.42    170
| random  11 (10 to 12)  0.230  1980 ± 16       2036  2.83    154
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their p95). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.

# More classes than two.
$ ballast replay shop.csv --servers 4 --policy jsq --policy random --group pay=^/pay --group search=^/search | sed -n '/^classes/,/^fleet/p; /^Response times by/,$p'
| classes  pay: 10 % of jobs
|          search: 30 % of jobs
| fleet    4 servers: load 0.631, in the busiest 1 min (from 01:34) 0.768
| Response times by class
|
| class     jobs  policy      mean, ms       p50         p99
| ──────────────────────────────────────────────────────────
| pay        10%  jsq      686.7 ± 6.3   489 ± 8  3181 ± 103
|                 random     1398 ± 26  970 ± 12  6578 ± 189
| search     30%  jsq      688.6 ± 4.7   481 ± 5   3032 ± 47
|                 random     1391 ± 26  953 ± 21  6617 ± 199
| (others)   60%  jsq      681.7 ± 3.1   482 ± 2   3093 ± 55
|                 random  1385.2 ± 8.0       953  6581 ± 156
$ ballast replay shop.csv --servers 4 --policy jsq --group 'pay=^/pay' --format csv | head -1 | tr , '\n' | grep '"class'
| "class.pay.response.mean"
| "class.pay.response.mean.ci"
| "class.pay.response.p50"
| "class.pay.response.p50.ci"
| "class.pay.response.p90"
| "class.pay.response.p90.ci"
| "class.pay.response.p99"
| "class.pay.response.p99.ci"
| "class.pay.response.p999"
| "class.pay.response.p999.ci"
$ ballast replay shop.csv --servers 4 --policy jsq --group 'pay=^/pay' --format json | jq -c '.results[0].by_class[] | [.class, .jobs, .response.p99]'
| ["pay",3000,3.18145008508436]
| [null,27000,3.075082788518894]
$ ballast replay shop.csv --servers 4 --policy jsq --group cart=^/cart | sed -n '/^Response times by/,$p'
| Response times by class
|
| class     jobs  policy     mean, ms      p50        p99
| ───────────────────────────────────────────────────────
| (others)  100%  jsq     684.2 ± 2.1  482 ± 3  3084 ± 16
! ballast: --group cart=^/cart: no job matches
$ ballast replay shop.csv --group a=^/pay --group a=^/item
! ballast: --group a=^/item: there is a class of that name already; one pattern can have both: a=^/(x|y)
? 2
$ ballast replay shop.csv --class pay
! ballast: --group pay: write a name and a pattern of paths: checkout=^/checkout
? 2
$ ballast replay shop.csv --group 'pay=('
! ballast: pattern '(' cannot be read beyond its character 1: missing closing parenthesis
? 2

# What if a server dies: the table shows it, and the search finds a fleet that stands it.
$ ballast replay shop.csv --policy jsq --servers 4 --fail 1@30min | sed -n '/^policy/,$p'
| policy          mean, s            p50          p99    other logs  waits  msgs   kWh  watts
| ───────────────────────────────────────────────────────────────────────────────────────────
| jsq     1.2106 ± 0.0053  0.827 ± 0.007  5.67 ± 0.05  1.00 to 1.46  57.3%  6.59  1.03    153
|
| Response times in s, best mean first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the mean would lie in 95 % of other logs like this one.
| 1 server fails after 30 min, for good; the jobs there start again on others.
$ ballast replay shop.csv --policy jsq --servers 4 --target p99=4s | grep '^jsq  *[0-9]* '
| jsq     684.2 ± 2.1  482 ± 3  3084 ± 16  2882 to 3282  28.8%  8.00  1.19    178
| jsq           4  0.631  3084 ± 16       6265  1.19    178
$ ballast replay shop.csv --policy jsq --servers 4 --target p99=4s --fail 1@busiest | sed -n '/^Servers/,/^jsq/p'
| Servers needed for p99 ≤ 4 s, 1 slot each (assumed), of which 1 fails
|
| policy  servers   load    p99, ms  one fewer   kWh  watts
| ─────────────────────────────────────────────────────────
| jsq           5  0.505  2632 ± 30       4537  1.41    169
$ ballast replay shop.csv --policy jsq --servers 4 --fail 1@200min
! ballast: --fail: then the log is over, which is 100.3 min long; give a time within it, or busiest
? 2
$ ballast replay shop.csv --policy jsq --servers 4 --fail 4@30min
! ballast: --fail: 4 of 4 servers: some must be left; give fewer, or more with --servers
? 2
$ ballast replay shop.csv --policy jsq --servers 4 --fail 1@noon
! ballast: --fail 1@noon: write how many servers fail and when, after the first arrival: 1@30min, 1@busiest
? 2
$ ballast replay shop.csv --policy jsq --servers 4 --fail 0.5@30min
! ballast: --fail 0.5@30min: write how many servers fail and when, after the first arrival: 1@30min, 1@busiest
? 2

# Servers of several speeds: one number is open.
$ ballast replay shop.csv --policy jsq --policy random --servers 2x1,Nx2 --target mean=600ms | sed -n '/^fleet/p; /^Servers/,/^random/p'
| fleet    2x1,2x2 servers: load 0.421, in the busiest 1 min (from 01:34) 0.512
| Servers needed for mean ≤ 600 ms, N in 2x1,Nx2, 1 slot each (assumed)
|
| policy     servers   load       mean, ms  one fewer   kWh  watts
| ────────────────────────────────────────────────────────────────
| jsq     2 (1 to 2)  0.421  395.43 ± 0.83        608  1.12    167
| random  4 (3 to 4)  0.252       504 ± 11        613  1.57    157
$ ballast replay shop.csv --policy jsq --servers Nx2 --target mean=600ms --replications 1 | sed -n '/^Servers/,/^jsq/p'
| Servers needed for mean ≤ 600 ms, speed 2, 1 slot each (assumed)
|
| policy  servers   load  mean, ms  one fewer   Wh  watts
| ───────────────────────────────────────────────────────
| jsq           2  0.631       453     782743  595    178
$ ballast replay shop.csv --policy jsq --servers N --target mean=600ms --replications 1 | sed -n '/^fleet/,/^$/p; /^Servers/,/^jsq/p'
| fleet    5 servers: load 0.505, in the busiest 1 min (from 01:34) 0.614
|          N until it is found: so many that the load in the busiest 1 min is at most 0.7
|          a server works on 1 request at a time: assumed; --slots says it
|
| Servers needed for mean ≤ 600 ms, 1 slot each (assumed)
|
| policy  servers   load  mean, ms  one fewer   kWh  watts
| ────────────────────────────────────────────────────────
| jsq           5  0.505       563        683  1.42    170
$ ballast replay shop.csv --policy jsq --servers 2x1,Nx2
! ballast: --servers: N is what --target looks for; add one, such as p99=200ms, or give a number
? 2
$ ballast replay shop.csv --policy jsq --servers Nx1,Nx2 --target p99=4s
! ballast: --servers Nx1,Nx2: only one number can be looked for; write one N, as in 4x1,Nx2
? 2

# More traffic comes to the fleet that the recorded traffic would have had, unless told otherwise.
$ ballast replay shop.csv --policy jsq --replications 1 | grep -A1 ^fleet
| fleet    5 servers: load 0.505, in the busiest 1 min (from 01:34) 0.614
|          no --servers given: so many that the load in the busiest 1 min is at most 0.7
$ ballast replay shop.csv --policy jsq --replications 1 --speedup 1.3 | sed -n '/^speedup/,/^$/p'
| speedup  jobs come 1.3 times as fast as they were recorded, to the fleet of the recorded
|          traffic; --servers says otherwise
| fleet    5 servers: load 0.656, in the busiest 1 min (from 01:34) 0.799
|          no --servers given: so many that the load in the busiest 1 min is at most 0.7 as
|          recorded
|          a server works on 1 request at a time: assumed; --slots says it
|
$ ballast replay shop.csv --policy jsq --replications 1 --speedup 1.3 --servers 6 | sed -n '/^speedup/,/^$/p'
| speedup  jobs come 1.3 times as fast as they were recorded
| fleet    6 servers: load 0.547, in the busiest 1 min (from 01:34) 0.665
|          a server works on 1 request at a time: assumed; --slots says it
|

# Money beside energy: of servers that are on.
$ ballast replay shop.csv --policy jsq --policy tabs --standby 2s --setup 1s --servers 8 --cost-per-hour 0.5 --target p99=4s | sed -n '/^policy/,/^tabs/p; /^cost/p'
| policy       mean, ms  p50        p99    other logs  waits  msgs   kWh  watts  cost
| ───────────────────────────────────────────────────────────────────────────────────
| jsq     508.28 ± 0.20  352       2319  2242 to 2413   0.3%  16.0  2.13    159  6.69
| tabs    564.57 ± 0.56  388  2696 ± 30  2566 to 2837   8.5%  1.05  1.69    127  5.03
| cost: servers that are on, 0.5 an hour each.
| policy     servers   load    p99, ms  one fewer   kWh  watts  cost
| ──────────────────────────────────────────────────────────────────
| jsq              4  0.631  3084 ± 16       6265  1.19    178  3.34
| tabs    4 (4 to 5)  0.631  3793 ± 84       9219  1.18    177  3.31
$ ballast replay shop.csv --policy jsq --cost-per-hour free
! ballast: --cost-per-hour free: not a number from 0 to 1e9, such as 0.12
? 2

# For nginx (tests/cross/nginx_block tries more of it). What cannot be told apart is said to be so.
$ ballast replay shop.csv --policy jiq --policy jsq --policy least-conn --servers 4 --replications 3 --nginx | sed -n '/^# From/,/^}/p'
| # From: ballast replay shop.csv --policy jiq --policy jsq --policy least-conn --servers 4 --replications 3 --nginx
| # 30000 requests, 2026-03-02 00:00:01 to 2026-03-02 01:40:20 UTC.
| # jsq and least-conn cannot be told apart on this log.
| # least-conn is taken, on 4 servers: nginx has it by itself.
| # That a server works on 1 request at a time is assumed; --slots says it.
| upstream fleet {
|     ballast least-conn slots=1;
|     # without the module: zone fleet 68k; least_conn;
|     server 10.0.0.1:80; # put its address here
|     server 10.0.0.2:80; # put its address here
|     server 10.0.0.3:80; # put its address here
|     server 10.0.0.4:80; # put its address here
| }
$ ballast replay shop.csv --policy least-work --policy jsq --replications 1 --target p99=4s --nginx | sed -n '/^# From/,$p'
| # From: ballast replay shop.csv --policy least-work --policy jsq --replications 1 --target p99=4s --nginx
| # 30000 requests, 2026-03-02 00:00:01 to 2026-03-02 01:40:20 UTC.
| # jsq on 4 servers: the best of the policies asked that the module can run.
| # Each policy was replayed once: how far its own draws move it is not known.
| # That a server works on 1 request at a time is assumed; --slots says it.
| upstream fleet {
|     ballast jsq slots=1;
|     # without the module: zone fleet 68k; least_conn;
|     server 10.0.0.1:80; # put its address here
|     server 10.0.0.2:80; # put its address here
|     server 10.0.0.3:80; # put its address here
|     server 10.0.0.4:80; # put its address here
| }
$ ballast replay shop.csv --policy least-work --replications 1 --servers 4 --nginx | tail -n 1
| # The module for nginx can run none of these policies (docs/nginx.md): there is nothing to tell it.
$ ballast replay shop.csv --policy jsq --replications 1 --target p99=1ms --nginx | tail -n 1
| # No number of servers meets the target: there is nothing to tell nginx.
$ ballast replay shop.csv --nginx --format json
! ballast: --nginx: the block is a text; leave out --format
? 2

# Few jobs tell a percentile, but not how it varies.
$ head -n 300 shop.csv >short.csv; ballast replay short.csv --servers 4 --policy jsq --target p99=4s | grep '[?]'
| jsq     725.8 ± 5.0  531 ± 17  3396 ± 398           ?  38.3%  8.00  11.3    183  may include waiting
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| jsq       4 (?)  0.720  3396 ± 398       4963  11.3    183  may include waiting
| (?): it cannot be told, by too few jobs or queues that remember for too long.
$ ballast replay short.csv --servers 4 --policy jsq --target p99=4s --format json | jq -c '.target.policies[0] | [.servers, .servers_low, .servers_high]'
| [4,null,null]
$ ballast replay short.csv --servers 4 --policy jsq --target p90=4s | grep -c '?'
| 4

# Nor do jobs that are all in a small part of the time that the log spans.
$ (cat shop.csv; echo 1772459600,0.5,/item/30000) >gap.csv
$ ballast replay gap.csv --servers 4 --policy jsq | sed -n '/^log/p; /^jsq/p; /  ?:/p'
| log      30001 jobs in 13.89 h, mean service time 506.5 ms, longest 6.495 s
| jsq     684.2 ± 2.1  483 ± 3  3084 ± 16           ?  28.8%  8.00  8.03    145
|   ?: it cannot be told, by too few jobs or queues that remember for too long.

# One server would do for nearly nothing; who needs several is tried with so many.
$ (head -n 1 shop.csv; for i in 1 2 3 4; do echo "$((1772409600 + 100 * i)),0.01,/item/$i"; done) >idle.csv
$ ballast replay idle.csv --servers 8 --policy jsq --policy rcpb --policy pod:d=5 --policy rcpb:c=3 --target p99=1s --format json | jq -c '.target.policies[] | [.policy, .servers]'
| ["jsq",1]
| ["rcpb:c=1",2]
| ["pod:d=5",1]
| ["rcpb:c=3",4]

# A fleet that falls ever further behind may meet a target that the log is too short to miss: it is doubted wherever it is told.
$ ballast replay shop.csv --servers 4 --policy jsq --target p99=2h --replications 2 | sed -n '/^Servers/,$p'
| Servers needed for p99 ≤ 2 h, 1 slot each (assumed)
|
| policy  servers   load          p99, ms  one fewer   Wh  watts
| ──────────────────────────────────────────────────────────────
| jsq     2 (?) !  1.262  1571363 ± 39575    9096048  845    200
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their p99). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.
| (?): it cannot be told, by too few jobs or queues that remember for too long.
| !: jsq: queues grew until the jobs ended, so that times depend on how long they came
$ ballast replay shop.csv --servers 4 --policy jsq --target p99=2h --replications 2 --format json | jq -c '.target.policies[0].doubts, .results[0].doubts'
| ["growing"]
| []
$ ballast replay shop.csv --servers 4 --policy jsq --target p99=2h --replications 2 --format csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "target.doubts") c = i } NR == 2 { print $c }'
| growing

# In sentences: what to take, why, and what not to believe.
$ ballast replay shop.csv --policy jsq --policy jiq --policy random --target p95=2s --servers 5 --explain | sed -n '/^  would lie/,$p'
|   would lie in 95 % of other logs like this one.
|
| jsq on 5 servers: the best of the policies asked that the module can run. By other logs like
| this one it would need 4 to 5 servers. That a server works on 1 request at a time is assumed;
| --slots says it.
$ ballast replay shop.csv --policy jsq --explain --format json
! ballast: --explain: sentences belong below a table; use --format text or markdown
? 2
