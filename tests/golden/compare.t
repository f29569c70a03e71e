# What a comparison prints, to the last digit: a change here is a change of results, and must be meant.

$ ballast compare --servers 10 --load 0.8 --jobs 20k --replications 5
| 10 servers at load 0.8, service exp; 5 replications of 20k jobs each, seed 1
|
| policy              mean response                  p99  watts  waits  msgs  bits  theory
| ──────────────────────────────────────────────────────────────────────────────────────────────────
| least-work*         1.210 ± 0.063  █▉        5.0 ± 0.3    188  40.3%  20.0     0  = 1.20 (+0.5%)
| jsq                 1.344 ± 0.054  ██▏       5.9 ± 0.3    188  30.7%  20.0     0  → 1.00 (+34.4%)
| own                 1.344 ± 0.054  ██▏       5.9 ± 0.3    188  30.7%     0    40  → 1.00 (+34.4%)
| lsq:p=1             1.352 ± 0.066  ██▏       5.9 ± 0.3    188  31.0%  1.00    40  → 1.00 (+35.2%)
| jiq                   1.49 ± 0.12  ██▍       7.6 ± 1.0    188  27.9%  0.72    10  → 1.00 (+48.9%)
| pi                    1.63 ± 0.12  ██▋       9.2 ± 0.7    188  26.8%  0.73    14
| prequal:r=3           1.93 ± 0.11  ███▏      7.7 ± 0.5    188  59.9%  6.00   800
| pod:d=2               2.16 ± 0.13  ███▌      8.2 ± 0.6    188  66.1%  4.00     0  → 1.95 (+11.1%)
| rcpb:c=1              2.18 ± 0.25  ███▌         11 ± 2    188  51.7%  1.00     4  → 1.67 (+30.5%)
| ewma:d=2,decay=10     2.38 ± 0.19  ███▊      9.3 ± 0.8    188  67.2%     0  1280
| tabs:mu=0.1,nu=0.1    2.39 ± 0.25  ███▊         13 ± 3    192  50.9%  0.51    20  → 1.00 (+138.6%)
| pod-memory:d=1,b=1    2.53 ± 0.12  ████      8.9 ± 0.5    188  77.4%  4.00     4
| round-robin           2.98 ± 0.38  ████▊        14 ± 3    188  65.9%     0     4  = 2.92 (+2.1%)
| random                5.02 ± 0.70  ████████     22 ± 4    188  79.8%     0     0  = 5.00 (+0.4%)
|
| No policy can beat 1.2046: one common queue for all servers (M/M/N).
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, → limit of many servers, with the difference of the simulation.
| *: must know how long every job will take: a lab does, a proxy does not.
| watts: mean power of a server, busy, idle, in set-up or off.
$ ballast compare --servers 5x1,5x10 --load 0.8 --jobs 50k --replications 5
| 5x1,5x10 servers at load 0.8, service exp; 5 replications of 50k jobs each, seed 1
|
| policy                  mean response                      p99  watts  waits  msgs  bits  theory
| ────────────────────────────────────────────────────────────────────────────────────────────────────────
| sed                     0.235 ± 0.021  █▉          0.95 ± 0.09    166  65.6%     0    40
| fastest-idle          0.2412 ± 0.0060  ██        2.282 ± 0.017    189  36.0%     0    40
| least-work*           0.2446 ± 0.0044  ██          2.41 ± 0.05    192  50.8%  20.0     0
| own                   0.2585 ± 0.0062  ██▏         2.37 ± 0.03    192  41.1%     0    40
| lsq:p=1               0.3536 ± 0.0091  ██▉         4.33 ± 0.17    193  42.1%  1.00    40
| jsq                   0.3540 ± 0.0091  ██▉         4.33 ± 0.14    193  42.4%  20.0     0
| prequal:r=3             0.369 ± 0.015  ███         3.76 ± 0.13    187  69.3%  6.00   800
| pi                      0.379 ± 0.016  ███▏          4.7 ± 0.3    192  37.6%  0.62    14
| weighted-round-robin    0.506 ± 0.031  ████▏         5.5 ± 0.4    188  67.1%     0    40
| weighted-random         0.825 ± 0.063  ██████▊       9.6 ± 1.1    187  79.3%     0     0  = 0.91 (-9.2%)
| pod-memory:d=1,b=1      0.977 ± 0.024  ████████     10.1 ± 0.3    193  85.8%  4.00     4
| random                       unstable                                            0     0  load < 0.182
| round-robin                  unstable                                            0     4  load < 0.182
| pod:d=2                      unstable                                         4.00     0  load < 0.364
| jiq                          unstable                                         0.68    10
| rcpb:c=1                     unstable                                         0.95     4
| tabs:mu=0.1,nu=0.1           unstable                                         0.55    20
| ewma:d=2,decay=10            unstable                                            0  1280
|
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, with the difference of the simulation.
| *: must know how long every job will take: a lab does, a proxy does not.
| watts: mean power of a server, busy, idle, in set-up or off.
| unstable: the queue grows without bound, so there is no mean. load < x: what theory allows.
$ ballast compare --servers 4 --load 0.7 --service 'hyper(4)' --jobs 20k --replications 5 --policy jsq --policy pod:d=3 --policy random --seed 9
| 4 servers at load 0.7, service hyper(4); 5 replications of 20k jobs each, seed 9
|
| policy   mean response                    p50     p99  waits  msgs  bits  theory
| ────────────────────────────────────────────────────────────────────────────────────────
| jsq        2.20 ± 0.32  ██▋       0.83 ± 0.08  19 ± 3  39.4%  8.00     0
| pod:d=3    2.65 ± 0.37  ███▏      1.02 ± 0.11  20 ± 3  49.8%  6.00     0
| random       6.7 ± 1.1  ████████    2.9 ± 0.7  40 ± 6  69.7%     0     0  = 6.83 (-2.1%)
|
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, with the difference of the simulation.
$ ballast compare --servers 4 --load 0.7 --jobs 20k --replications 3 --warmup 0.1 --policy random --format csv
| policy,verdict,response.mean,response.mean.ci,response.p50,response.p50.ci,response.p90,response.p90.ci,response.p99,response.p99.ci,response.p999,response.p999.ci,waiting.mean,waiting.mean.ci,waiting.p50,waiting.p50.ci,waiting.p90,waiting.p90.ci,waiting.p99,waiting.p99.ci,waiting.p999,waiting.p999.ci,waiting.probability,waiting.probability.ci,queue.mean,queue.mean.ci,queue.total,queue.total.ci,messages.probes_per_job,messages.probes_per_job.ci,messages.reports_per_job,messages.reports_per_job.ci,messages.per_job,messages.per_job.ci,messages.per_time,messages.per_time.ci,memory.bits,memory.bits.ci,fluid.distance,fluid.distance.ci,power.mean,power.mean.ci,power.waste,power.waste.ci,power.busy,power.busy.ci,power.standby,power.standby.ci,power.setup,power.setup.ci,power.off,power.off.ci,energy.per_job,energy.per_job.ci,jobs.lost,jobs.lost.ci,jobs.refused,jobs.refused.ci,transient,transient.ci,drift,drift.ci,high.response.mean,high.response.mean.ci,high.response.p50,high.response.p50.ci,high.response.p90,high.response.p90.ci,high.response.p99,high.response.p99.ci,high.response.p999,high.response.p999.ci,high.waiting.mean,high.waiting.mean.ci,high.waiting.p50,high.waiting.p50.ci,high.waiting.p90,high.waiting.p90.ci,high.waiting.p99,high.waiting.p99.ci,high.waiting.p999,high.waiting.p999.ci,high.waiting.probability,high.waiting.probability.ci,low.response.mean,low.response.mean.ci,low.response.p50,low.response.p50.ci,low.response.p90,low.response.p90.ci,low.response.p99,low.response.p99.ci,low.response.p999,low.response.p999.ci,low.waiting.mean,low.waiting.mean.ci,low.waiting.p50,low.waiting.p50.ci,low.waiting.p90,low.waiting.p90.ci,low.waiting.p99,low.waiting.p99.ci,low.waiting.p999,low.waiting.p999.ci,low.waiting.probability,low.waiting.probability.ci,high.probes_per_job,high.probes_per_job.ci,low.probes_per_job,low.probes_per_job.ci,moves_per_high_job,moves_per_high_job.ci,stealing.requests,stealing.requests.ci,stealing.steals,stealing.steals.ci,stealing.moved,stealing.moved.ci,load.p50,load.p50.ci,load.p90,load.p90.ci,load.p99,load.p99.ci,load.p999,load.p999.ci,load.tail,load.tail.ci,load.achieved,load.achieved.ci,jobs.failed,jobs.failed.ci,jobs.gave_up,jobs.gave_up.ci,theory.response_mean,theory.high.response_mean,theory.low.response_mean,memory_bits,engine,replications,jobs,events,doubts,outlasted_curve,settings
| "random",stable,3.272719392343206,0.19973533006192631,2.3181664679760794,0.20649133232466305,7.568344566993465,0.5021866986947433,14.210104166666675,0.9823673032886062,20.313458333333262,4.487810943685176,2.272627324892872,0.19125669794574193,1.1201004464285713,0.2201161451395879,6.353045634920637,0.47571480182225556,12.99535218253967,1.0257406700325091,18.91418749999995,4.570080944338562,0.6980853934468703,0.024570326199514738,2.2974322434953085,0.19080743229333552,9.189728973981234,0.7632297291733421,0,0,0,0,0,0,0,0,0,0,,,182.1066961055199,1.4747982430255224,0.29759848293503893,0.034999249690187695,0.7017782684253315,0.024579970717091924,0.29822173157466847,0.024579970717091934,0,0,0,0,259.5905924385463,4.013937177475636,0,0,0,0,0.0016666666666666668,0.007171087882915769,0.027300899565937765,0.07802638785929945,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,0.7018018518518518,0.017271657938671584,0,0,,,3.333333333333333,,,0,markov,3,54119,120397,,no,"servers=4; load=0.7; run.jobs=20000; run.replications=3; run.warmup=0.1"
$ ballast compare --servers 4 --load 0.7 --jobs 20k --replications 3 --warmup 0.1 --policy random --policy jsq --format json | sed 's/"seconds": [0-9.e-]*/"seconds": 0/'
| {
|   "version": "0.1.0",
|   "spec": {
|     "servers": "4",
|     "load": 0.7,
|     "service": "exp",
|     "time": 7142.857142857143,
|     "jobs": 20000,
|     "warmup": 0.1,
|     "replications": 3,
|     "precision": null,
|     "seed": 1,
|     "floor_response_mean": 1.3572119318604476,
|     "cut_short": false
|   },
|   "settings": {
|     "fleet": {"servers": "4"},
|     "workload": {"load": "0.7"},
|     "run": {"jobs": "20000", "replications": "3", "warmup": "0.1"}
|   },
|   "results": [
|     {
|       "policy": "jsq",
|       "response": {"mean": 1.5069982929569066, "ci": 0.09337678830330776, "p50": 1.0852882025465962, "p50_ci": 0.04217137894815814, "p90": 3.405401247258772, "p90_ci": 0.25669876696068766, "p99": 6.561990740740744, "p99_ci": 0.3995690764686422, "p999": 9.568645833333298, "p999_ci": 1.1680993567017575},
|       "waiting": {"mean": 0.5078654790361178, "ci": 0.09048138239621625, "p50": 0, "p50_ci": 0, "p90": 1.7920923098169197, "p90_ci": 0.30273589331659573, "p99": 4.753959201388891, "p99_ci": 0.48945997316859097, "p999": 7.773557291666653, "p999_ci": 1.7641554832327326, "probability": 0.38175500229875425},
|       "queue": {"mean": 1.0578503832673418, "ci": 0.09127182918481201, "total": 4.231401533069367, "tail": [1, 0.7011899079864898, 0.2695944095957817, 0.06992754408304001, 0.014469334234140804, 0.002326728133508781, 0.0003363444229273994, 6.1148114535357045e-06]},
|       "messages": {"probes_per_job": 4, "reports_per_job": 0, "per_job": 8, "per_time": 11.22882962962963},
|       "power": {"mean": 182.0713944791894, "mean_ci": 1.2568437093456577, "waste": 0.29839886571953267, "energy_per_job": 259.4555312611386, "busy": 0.7011899079864898, "standby": 0.2988100920135102, "setup": 0, "off": 0},
|       "lost": 0,
|       "refused": 0,
|       "memory_bits": 0,
|       "verdict": "stable",
|       "doubts": [],
|       "theory": {"response_mean": 1, "waiting_mean": 0, "response_p50": null, "response_p90": null, "response_p99": null, "response_p999": null, "kind": "limit", "source": "N to infinity", "tail": []},
|       "engine": "markov",
|       "replications": 3,
|       "precise": true,
|       "load": {"achieved": 0.7018018518518518, "ci": 0.017271657938671584, "outlasted_curve": false},
|       "transient": {"mean": 0.005, "ci": 0.0215132636487473},
|       "drift": {"mean": 0.028584793809508416, "ci": 0.20868360254515608},
|       "time": 7142.857142857143,
|       "warmup": 0.1,
|       "jobs": 54137,
|       "events": 120418,
|       "seconds": 0
|     },
|     {
|       "policy": "random",
|       "response": {"mean": 3.272719392343206, "ci": 0.19973533006192631, "p50": 2.3181664679760794, "p50_ci": 0.20649133232466305, "p90": 7.568344566993465, "p90_ci": 0.5021866986947433, "p99": 14.210104166666675, "p99_ci": 0.9823673032886062, "p999": 20.313458333333262, "p999_ci": 4.487810943685176},
|       "waiting": {"mean": 2.272627324892872, "ci": 0.19125669794574193, "p50": 1.1201004464285713, "p50_ci": 0.2201161451395879, "p90": 6.353045634920637, "p90_ci": 0.47571480182225556, "p99": 12.99535218253967, "p99_ci": 1.0257406700325091, "p999": 18.91418749999995, "p999_ci": 4.570080944338562, "probability": 0.6980853934468703},
|       "queue": {"mean": 2.2974322434953085, "ci": 0.19080743229333552, "total": 9.189728973981234, "tail": [1, 0.7017782684253314, 0.4901607717172142, 0.343922350350117, 0.2388207239794733, 0.16653610261142446, 0.11552371923728927, 0.07954008179951444, 0.05411906808151809, 0.03727543936471684, 0.024945612097424217, 0.016543995112650228, 0.010916314187856671, 0.0067382798022516885, 0.004094637441149366, 0.0026224258045099403, 0.0017900771205914317, 0.001106676307057148, 0.0005841378031833192, 0.00026108182021539677, 0.00011109101944275693, 4.138941237787363e-05]},
|       "messages": {"probes_per_job": 0, "reports_per_job": 0, "per_job": 0, "per_time": 0},
|       "power": {"mean": 182.1066961055199, "mean_ci": 1.4747982430255224, "waste": 0.29759848293503893, "energy_per_job": 259.5905924385463, "busy": 0.7017782684253315, "standby": 0.29822173157466847, "setup": 0, "off": 0},
|       "lost": 0,
|       "refused": 0,
|       "memory_bits": 0,
|       "verdict": "stable",
|       "doubts": [],
|       "theory": {"response_mean": 3.333333333333333, "waiting_mean": 2.333333333333333, "response_p50": 2.310490601866484, "response_p90": 7.675283643313485, "response_p99": 15.350567286626967, "response_p999": 23.025850929940454, "kind": "exact", "source": "M/M/1", "tail": [1, 0.7, 0.48999999999999994, 0.3429999999999999, 0.24009999999999995, 0.16806999999999994, 0.11764899999999996, 0.08235429999999996, 0.05764800999999997, 0.04035360699999998, 0.028247524899999984, 0.019773267429999988, 0.01384128720099999, 0.009688901040699992, 0.006782230728489994, 0.004747561509942996, 0.0033232930569600965, 0.0023263051398720674, 0.001628413597910447, 0.001139889518537313, 0.0007979226629761189, 0.0005585458640832833, 0.00039098210485829826, 0.0002736874734008088, 0.00019158123138056612, 0.00013410686196639628, 9.387480337647739e-05, 6.571236236353417e-05, 4.5998653654473914e-05, 3.219905755813174e-05, 2.2539340290692216e-05, 1.577753820348455e-05, 1.1044276742439184e-05, 7.73099371970743e-06, 5.411695603795199e-06, 3.788186922656639e-06, 2.6517308458596473e-06, 1.856211592101753e-06, 1.2993481144712271e-06, 9.095436801298589e-07, 6.366805760909012e-07, 4.456764032636308e-07, 3.1197348228454154e-07, 2.1838143759917906e-07, 1.5286700631942535e-07, 1.0700690442359773e-07, 7.490483309651841e-08, 5.243338316756288e-08, 3.6703368217294013e-08, 2.5692357752105807e-08, 1.7984650426474064e-08, 1.2589255298531844e-08, 8.812478708972291e-09, 6.168735096280603e-09, 4.318114567396422e-09, 3.022680197177495e-09, 2.1158761380242465e-09, 1.4811132966169724e-09, 1.0367793076318806e-09]},
|       "engine": "markov",
|       "replications": 3,
|       "precise": true,
|       "load": {"achieved": 0.7018018518518518, "ci": 0.017271657938671584, "outlasted_curve": false},
|       "transient": {"mean": 0.0016666666666666668, "ci": 0.007171087882915769},
|       "drift": {"mean": 0.027300899565937765, "ci": 0.07802638785929945},
|       "time": 7142.857142857143,
|       "warmup": 0.1,
|       "jobs": 54119,
|       "events": 120397,
|       "seconds": 0
|     }
|   ]
| }
