# Servers that switch off: compare, fluid and tune, and what cannot be.
$ ballast compare --servers 50 --load 0.3 --policy tabs --policy jiq --policy delayed-off --policy central --jobs 20k --replications 3
| 50 servers at load 0.3, service exp; 3 replications of 20k jobs each, seed 1
|
| policy                     mean response                   p99  watts  waits  msgs  bits  theory
| ────────────────────────────────────────────────────────────────────────────────────────────────────────
| central                    0.998 ± 0.013  ██████     4.6 ± 0.3    158   0.0%     0     0  = 1.00 (-0.2%)
| jiq                        1.004 ± 0.013  ██████▏  4.61 ± 0.19    158   0.0%  1.00    50  ≈ 1.00 (+0.4%)
| tabs:mu=0.1,nu=0.1         1.067 ± 0.015  ██████▌  5.06 ± 0.03    109   4.8%  1.04   100  → 1.00 (+6.7%)
| delayed-off:mu=0.1,nu=0.1  1.153 ± 0.026  ███████    4.8 ± 0.3   76.2  44.5%     0     0
|
| No policy can beat 1.0000: one common queue for all servers (M/M/N).
| By chance below it, with an interval that reaches it: central.
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, → limit of many servers, ≈ approximation for so many servers, with the difference of the simulation.
| watts: mean power of a server, busy, idle, in set-up or off.
$ ballast compare --servers 20 --load 0.3 --policy tabs --start off=1 --buffer 2 --time 50 --window 40 --replications 2
| 20 servers at load 0.3, service exp, buffer 2, start off=1; 2 replications of 300 jobs each,
| window 40, seed 1
|
| policy              mean response             p99  watts  waits  msgs  bits  theory
| ───────────────────────────────────────────────────────────────────────────────────
| tabs:mu=0.1,nu=0.1  1.08 ± 0.82 ?  ███████  5 ± 7    142   6.2%  1.04    40
|
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| watts: mean power of a server, busy, idle, in set-up or off.
| tabs:mu=0.1,nu=0.1 loses 1.82 % of all jobs at full buffers and refuses 0 % with no server on.
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --servers 20 --load 0.3 --delay 'det(1)' --policy tabs:off=discard --policy tabs:abort=yes --policy tabs --jobs 2k --replications 2 | grep -o 'tabs.*of all jobs at.*off and'
| tabs:mu=0.1,nu=0.1,off=discard loses 14.6 % of all jobs at servers that are off and
$ ballast compare --policy tabs:abort=maybe
! ballast: --policy tabs:abort=maybe: policy 'tabs': abort=maybe is not one of no or yes
? 2
$ ballast compare --servers 10 --load 0.3 --buffer 2 --start busy=0.5,jobs=3
! ballast: the start has 3 jobs at each busy server; with buffers of 2 it must be at most 2
? 2
$ ballast compare --servers 10 --load 0.3 --start busy=0.5,jobs=3 --policy central
! ballast: paths and queues at the start need a queue at each server
? 2
$ ballast fluid tabs:abort=yes --load 0.3 --until 10
! ballast: the fluid model of tabs is about abort=no
? 2
$ ballast compare --servers 20 --load 0.3 --policy tabs --setup 'det(5)' --standby 3 --watts 100,50,80,1 --curve 'sine(0.5,20)' --time 500 --replications 2 --format json | jq -c '.results[0] | .power.mean > 30 and .power.off > 0, .engine, .lost, .refused'
| true
| "event"
| 0
| 0
$ ballast fluid tabs --load 0.3 --until 60 --points 5
| tabs:mu=0.1,nu=0.1 at load 0.3 from busy=0.1,off=0.9: fluid model
|
|     t    jobs     s_1     s_2    idle   setup     off
| ─────────────────────────────────────────────────────
|     0  0.1000  0.1000  0.0000  0.0000  0.0000  0.9000
|    15  0.3107  0.3048  0.0028  0.2720  0.2475  0.1757
|    30  0.3000  0.3000  0.0000  0.1449  0.0552  0.4999
|    45  0.3000  0.3000  0.0000  0.0508  0.0123  0.6369
|    60  0.3000  0.3000  0.0000  0.0155  0.0027  0.6818
| limit  0.3000  0.3000  0.0000  0.0000  0.0000  0.7000
|
| jobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service times.
| idle, setup, off: fractions of servers that are idle and on, in set-up, off.
| limit: what the path tends to; jobs then wait 0.0000 on average.
$ ballast fluid tabs --load 0.3 --until 40 --points 3 --simulate 2000 --service 'hyper(0.75,2,0.25,0.4)' --curve 'sine(0.5,20)' --from idle
| tabs:mu=0.1,nu=0.1 at load 0.3 from idle: fluid model, service hyper(0.75,2,0.25,0.4),
| curve sine(0.5,20)
| sim: one simulated system of 2000 servers, seed 1
|
|  t    jobs     sim     s_1     sim     s_2     sim    idle     sim   setup     sim     off     sim
| ──────────────────────────────────────────────────────────────────────────────────────────────────
|  0  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  1.0000  1.0000  0.0000  0.0000  0.0000  0.0000
| 20  0.2458  0.2460  0.2458  0.2460  0.0000  0.0000  0.1093  0.1275  0.0000  0.0000  0.6449  0.6265
| 40  0.2482  0.2520  0.2471  0.2505  0.0008  0.0015  0.1696  0.1535  0.0908  0.0810  0.4925  0.5150
|
| jobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service times.
| idle, setup, off: fractions of servers that are idle and on, in set-up, off.
| There is no limit: the load varies, or servers never switch off.
| The two paths are never farther apart than 0.0423, in s_2 at time 23.44.
| In the states of servers, idle: 0.0406, setup: 0.1070, off: 0.1048.
$ ballast fluid tabs --load 0.3 --until 10 --points 2 --format csv
| t,jobs,s1,s2,s3,s4,s5,s6,s7,s8,idle,setup,off
| 0,0.1,0.1,0,0,0,0,0,0,0,0,0,0.9
| 10,0.3855414733,0.3327325079,0.0214912891,0.0133749318,0.0080789176,0.0046773062,0.0025825182,0.0013567136,0.0006774914,0.2105663366,0.4080527946,0.0486483608
$ ballast tune tabs --servers 20 --load 0.3 --setup 5 --points 3 --time 500 --replications 2
| tabs on 20 servers at load 0.3, service exp, set-up exp(5), 200,140,200,0 W busy, idle, in
| set-up, off; 2 replications, time 500, seed 1
|
|   standby         tabs waits        p99  watts  waste         delayed-off waits  watts
| ──────────────────────────────────────────────────────────────────────────────────────
|      0.05  7.1122 ± 2.1842 ?    26 ± 31  190.7  +212%         0.6730 ± 0.4678 ?  101.8
|         5    0.1724 ± 0.1467  5.7 ± 1.3  118.4   +90%  •      0.2353 ± 0.0308 ?   85.0
|       500    0.0030 ± 0.0048  4.6 ± 0.3  120.6  +101%  •        0.0094 ± 0.0088   98.4
| always on    0.0000 ± 0.0000  4.7 ± 1.0  158.6  +155%  (jiq)
|
| There is no knee: fewer than three standby times are worth considering; widen --from and --to.
| The work alone needs 60.0 W a server. •: no other standby of tabs has less waiting and less power.
| ±: 95 % confidence over replications. standby: mean time that an idle server stays on.
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast tune tabs --servers 20 --setup 5 --points 2 --time 200 --replications 2 --format csv | cut -d, -f1-3
| policy,standby,verdict
| tabs,0.05,undecided
| delayed-off,0.05,undecided
| tabs,500,stable
| delayed-off,500,stable
| jiq,,stable
$ ballast tune tabs --servers 20 --setup 5 --points 3 --time 200 --replications 2 --format json | jq -c '.spec.setup, .least_power, .keeper.on, .keeper.least, .keeper.most, (.points | length), (.points[0].tabs | keys)'
| "exp(5)"
| 60
| 7.142857142857143
| 1
| 15
| 3
| ["doubts","energy.per_job","energy.per_job.ci","power.mean","power.mean.ci","power.setup","power.setup.ci","power.standby","power.standby.ci","power.waste","power.waste.ci","response.mean","response.mean.ci","response.p99","response.p99.ci","verdict","waiting.mean","waiting.mean.ci"]

# what cannot be
$ ballast tune
! ballast: tune: '' cannot be tuned; write ballast tune tabs, or ballast tune slots
? 2
$ ballast tune pod
! ballast: tune: 'pod' cannot be tuned; write ballast tune tabs, or ballast tune slots
? 2
$ ballast tune tabs --setup 0
! ballast: --setup 0: not a mean above 0 or a law, such as 10, det(10) or erlang(4,10)
? 2
$ ballast tune tabs --setup x
! ballast: --setup x: law 'x': no such law; there are exp, det, erlang, hyper, phase, lognormal, pareto, bounded-pareto, uniform
? 2
$ ballast tune tabs --from 5 --to 1
! ballast: standby times from 5 to 1; they must be above 0 and rise
? 2
$ ballast tune tabs --points 1
! ballast: --points 1: not a whole number from 2 to 200
? 2
$ ballast tune tabs --engine markov
! ballast: --engine: tuning runs several engines; leave it out
? 2
$ ballast tune tabs --figure x.gif
! ballast: --figure x.gif: the name must end in .svg, .png, .pdf, .eps or .csv
? 2
$ ballast compare --curve 'sine(2,1)'
! ballast: --curve sine(2,1): curve 'sine(2,1)': this is not a sine; write constant, sine(A,P) with 0 <= A <= 1 and P > 0, table(T:F T:F ...) or file(PATH), the last two also with ' repeat' behind them
? 2
$ ballast compare --curve 'file(/dev/zero)'
! ballast: --curve file(/dev/zero): curve: '/dev/zero' is a device or a pipe, not a file with a table in it
? 2
$ ballast compare --curve 'table(0:1 0:2) repeat'
! ballast: --curve table(0:1 0:2) repeat: curve 'table(0:1 0:2) repeat': times must ascend and factors must not be negative; write constant, sine(A,P) with 0 <= A <= 1 and P > 0, table(T:F T:F ...) or file(PATH), the last two also with ' repeat' behind them
? 2
$ ballast compare --curve 'file(nowhere)'
! ballast: --curve file(nowhere): curve: cannot read 'nowhere': No such file or directory
? 2
$ ballast compare --start busy=2
! ballast: --start busy=2: start 'busy=2': a fraction is a number from 0 to 1; write idle, or fractions of the servers such as busy=0.1,off=0.9, or with several jobs each busy=0.1,jobs=3,off=0.9
? 2
$ ballast compare --watts 1,2
! ballast: --watts 1,2: watts '1,2': write those of a server that is busy, idle, in set-up and off, such as 200,140,200,0
? 2
$ ballast compare --buffer 0
! ballast: --buffer 0: not a whole number of jobs from 1, or none
? 2
$ ballast compare --policy delayed-off --buffer 2
! ballast: --policy: one common queue cannot be had with buffers at the servers; leave out one of them
? 2
$ ballast compare --policy delayed-off --engine event
! ballast: --policy: engine 'event' cannot simulate one common queue; use pooled or auto
? 2
$ ballast compare --policy jiq --engine pooled
! ballast: --policy: engine 'pooled' cannot simulate a policy that chooses servers; use markov or auto
? 2
$ ballast compare --policy tabs --setup 'det(3)' --engine markov
! ballast: --policy: engine 'markov' cannot simulate sizes, standby or set-up times that are not exponential; use event or auto
? 2
$ ballast compare --window 0
! ballast: --window 0: not a length of time above 0, such as 10, or none
? 2
$ ballast fluid tabs --from full
! ballast: --from: start 'full': a state is busy, setup or off, and jobs those of a busy server; write idle, or fractions of the servers such as busy=0.1,off=0.9, or with several jobs each busy=0.1,jobs=3,off=0.9
? 2
$ ballast fluid tabs --from off=1
! ballast: tabs: starting state: no server is on; at least some must be busy or idle
? 2
$ ballast fluid tabs --service 'pareto(2)'
! ballast: the fluid model of tabs needs sizes in at most 16 phases; use exp, erlang, hyper or phase
? 2

# The load that came is said where a curve is used, and so is the end of a curve before that of the run.
$ ballast compare --servers 4 --load 0.5 --time 2000 --policy jsq --curve 'table(0:1 100:0.2)' | tail -n 4
| The load that came was 0.1010 ± 0.0021; it is 0.5 where the curve is 1.
| The curve ends at time 100 of 2000 and stays at 0.2 from there on; end the run with it (--time), or let it repeat.
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
$ ballast compare --servers 4 --load 0.5 --time 2000 --policy jsq --curve 'table(0:1 100:0.2) repeat' | grep load
| 4 servers at load 0.5, service exp, curve table(0:1 100:0.2) repeat; 10 replications of 4000
| The load that came was 0.3032 ± 0.0038; it is 0.5 where the curve is 1.
$ ballast compare --servers 4 --load 0.5 --time 100 --policy jsq --curve 'table(0:1 100:0.2)' | grep -c 'curve ends'
| 0
? 1
$ ballast compare --servers 4 --load 0.5 --time 2000 --policy jsq --policy tabs --curve 'table(0:1 100:0.2)' --format json |
>     jq -c '.results[].load | [(.achieved * 100 | round), .outlasted_curve]'
| [10,true]
| [10,true]
$ ballast compare --servers 4 --load 0.5 --time 2000 --policy jsq --curve 'table(0:1 100:0.2)' --format csv | sed 's/.*,\(.*\),.*/\1/'
| outlasted_curve
| yes
