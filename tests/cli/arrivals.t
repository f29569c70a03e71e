# Arrivals that are no Poisson process: in comparisons, in experiments and in what is fitted to logs.

# Theory is shown where it is about these arrivals; the event engine runs them.
$ ballast compare --servers 2 --load 0.5 --arrivals 'renewal(erlang(4))' --policy random --policy jsq --jobs 20k --replications 3 --quiet
| 2 servers at load 0.5, service exp, arrivals renewal(erlang(4)); 3 replications of 20k jobs
| each, seed 1
|
| policy  mean response                     p50        p99  waits  msgs  bits  theory
| ───────────────────────────────────────────────────────────────────────────────────────────
| jsq     1.178 ± 0.032  ████▉    0.820 ± 0.008  5.5 ± 0.4  15.8%  4.00     0
| random  1.685 ± 0.081  ███████    1.16 ± 0.03  8.0 ± 0.4  40.5%     0     0  = 1.67 (+1.0%)
|
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, with the difference of the simulation.
$ ballast compare --servers 2 --load 0.5 --arrivals ' mmpp( 3,5 ; 1,10 )' --policy jsq --jobs 5k --replications 2 --quiet --format json | jq -c .settings.workload
| {"load":"0.5","arrivals":"mmpp(3,5;1,10)"}
$ ballast compare --servers 2 --load 0.5 --arrivals 'batch(geometric(2))' --policy central --jobs 5k --replications 2 --quiet --format csv | cut -d, -f1,2
| policy,verdict
| "central",undecided

# What is refused.
$ ballast compare --arrivals bursty
! ballast: --arrivals bursty: arrivals 'bursty': there are no such arrivals; write poisson, mmpp(R1,T1;R2,T2;...), renewal(LAW) or batch(LAW)
? 2
$ ballast compare --arrivals 'mmpp(1,2)'
! ballast: --arrivals mmpp(1,2): arrivals 'mmpp(1,2)': one state is poisson; give 2 to 8
? 2
$ ballast compare --arrivals 'batch(poisson)'
! ballast: --arrivals batch(poisson): arrivals 'batch(poisson)': the mean of the batches is open; give it, as in batch(geometric(4))
? 2
$ ballast compare --arrivals 'renewal(gamma(2))'
! ballast: --arrivals renewal(gamma(2)): arrivals 'renewal(gamma(2))': law 'gamma(2)': no such law; there are exp, det, erlang, hyper, phase, lognormal, pareto, bounded-pareto, uniform
? 2
$ ballast compare --servers 4 --arrivals 'batch(3)' --engine markov --policy random
! ballast: --policy: engine 'markov' cannot simulate arrivals that are not poisson; use event or auto
? 2
$ ballast compare --servers 4 --slotted --arrivals 'batch(3)' --policy random
! ballast: arrivals other than poisson need continuous time; in slotted time a batch says how many jobs come
? 2
$ ballast compare --servers 4 --arrivals 'renewal(det)' --curve 'sine(0.5,10)' --policy random
! ballast: renewal arrivals have no rate that a load curve could change; use mmpp, batch or poisson with it
? 2
$ ballast compare --servers 4 --arrivals 'mmpp(1,1e-6;2,1e-6)' --policy random
! ballast: the mmpp changes its state 2.78e+05 times for each job, so that its rate is the mean; it may do so 1000 times: give longer times
? 2

# An axis of an experiment.
$ cat >bursts.yaml <<'END'
> title: Arrivals
> fleet: {servers: 3}
> workload: {load: 0.5}
> policies: [random]
> sweep: {axis: arrivals, values: ["renewal(det)", poisson, "batch(3)"]}
> run: {jobs: 2k, replications: 2}
> metrics: [response.mean]
> END
$ ballast run bursts.yaml --quiet --format csv | cut -d, -f1-3
| arrivals,label,seed
| renewal(det),random,6001523077335741
| poisson,random,3422100739950550
| batch(3),random,5365695782123282

# A bursty log: ten times as many jobs for 2 s as for the 10 s that follow, on average, by the generator of Park and
# Miller, whose numbers are exact in every awk.
$ awk 'function e() { x = x * 16807 % 2147483647; return -log(x / 2147483647) }
>     BEGIN { x = 20261115; print "arrival,duration_s"
>         for (t = 0; t < 10000;) {
>             if (t >= end) { high = !high; end = t + e() * (high ? 2 : 10) }
>             gap = e() * (high ? 0.02 : 0.2)
>             if (t + gap >= end) { t = end; continue }
>             t += gap
>             printf "%.6f,%.6f\n", 1700000000 + t, 0.05 * e() + 0.000001
>         } }' >bursts.csv
$ ballast fit bursts.csv --servers 2 --output fitted.yaml | sed -n '/^arrivals [0-9]/p; /^flow/,/^squares/p'
| arrivals 13.06 a second; the rate is constant as far as can be told
| flow     burstier than a Poisson process; simulations will draw arrivals that are so, too
| fleet    2 servers: load 0.326 on average
|
| arrivals  parameters  misfit  in 0.1 s  in 1 s  in 10 s
| ───────────────────────────────────────────────────────
| the log                          1.079   7.085    60.94
| poisson            0   808.8         1       1        1
| batch              1   773.2      1.14    1.14     1.14
| renewal            1   128.3     1.086   5.222    18.59
| mmpp ◀             3  0.1406     1.088   7.069    61.11
|
| ◀ the least misfit, with 4 for each parameter: a rate that changes between two values
|   mmpp(3.4065,2.2448;0.24934,7.1965)
|
| Dispersions of the counts in windows of so many seconds, 1 for a Poisson process. misfit:
| squares of what they differ by from the log, in units of its errors.
$ sed -n '/^about/,/^policies/p' fitted.yaml
| about: >
|   The sizes of the log as a law and its arrivals as a process of bursts whose rate follows a
|   curve. Times are in seconds.
| unit: seconds
| fleet:
|   servers: 2
| workload:
|   # in seconds; squared coefficient of variation 1, of the log 0.9945; the distribution
|   # functions differ by 0.002723 at most
|   service: "exp(0.0499362)"
|   # as bursty as the log: the dispersion of counts is off by 1 % in windows of 0.1 s to 10 s
|   arrivals: "mmpp(3.4065,2.2448;0.24934,7.1965)"
|   # the rate of the log varies no more than chance would have it
| policies: ["random", "round-robin", "pod:d=2", "jiq", "jsq"]
$ ballast check fitted.yaml
| fitted.yaml: in order; plain 150 trials, quick 90 trials, full 150 trials
$ ballast fit bursts.csv --servers 2 --output fitted.yaml --format json | jq -c '.arrivals.chosen, .model.arrivals, .arrivals.fits[0]'
| "mmpp"
| "mmpp(3.4065,2.2448;0.24934,7.1965)"
| {"method":"poisson","arrivals":"poisson","parameters":0,"misfit":808.7782178336277,"error":0.7550918986993543,"dispersion":[1,1,1]}
