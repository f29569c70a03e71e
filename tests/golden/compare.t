# What a comparison prints, to the last digit: a change here is a change of results, and must be meant.

$ ballast compare --servers 10 --load 0.8 --jobs 20k --replications 5
| 10 servers at load 0.8, service exp; 5 replications of 20k jobs each, seed 1
|
| policy               mean response                    p99  watts  waits  msgs  bits  theory
| ─────────────────────────────────────────────────────────────────────────────────────────────────────
| least-work*          1.210 ± 0.063  █▋        5.0 ± 0.3 !    188  40.3%  20.0     0  = 1.20 (+0.5%)
| jiq:else=hold        1.210 ± 0.063  █▋        5.0 ± 0.3 !    188  40.3%  1.00    10  = 1.20 (+0.5%)
| lsq:p=1              1.361 ± 0.052  █▉        5.9 ± 0.2 !    188  31.2%  1.00    40  ≈ 1.36 (+0.4%)
| jiq:else=least-conn  1.369 ± 0.060  █▉        5.9 ± 0.2 !    188  31.7%  0.68    10  ≈ 1.36 (+1.0%)
| jsq                  1.373 ± 0.052  █▉        6.0 ± 0.3 !    188  31.9%  20.0     0  ≈ 1.36 (+1.2%)
| least-conn           1.373 ± 0.052  █▉        6.0 ± 0.3 !    188  31.9%     0    40  ≈ 1.36 (+1.2%)
| jiq                  1.512 ± 0.069  ██        7.6 ± 0.6 !    188  28.8%  0.71    10  ≈ 1.48 (+2.0%)
| pi                     1.66 ± 0.11  ██▎       9.6 ± 1.0 !    188  27.2%  0.73    14
| prequal:r=3          1.952 ± 0.078  ██▋       7.8 ± 0.3 !    188  60.5%  6.00   800
| pod:d=2              2.193 ± 0.084  ███         8.5 ± 0.2    188  66.8%  4.00     0  ≈ 2.162 (+1.4%)
| rcpb:c=1             2.197 ± 0.086  ███      10.8 ± 0.5 !    188  52.3%  0.98     4  → 1.67 (+31.8%)
| ewma:d=2,decay=10      2.39 ± 0.11  ███▎      9.6 ± 0.4 !    188  67.5%     0  1280
| pod-memory:d=1,b=1     2.53 ± 0.12  ███▍      9.1 ± 0.3 !    188  77.1%  4.00     4  → 2.45 (+3.3%)
| tabs:mu=0.1,nu=0.1     2.57 ± 0.61  ███▌         15 ± 7 !    193  52.8%  0.50    20  → 1.00 (+157.5%)
| round-robin            2.94 ± 0.18  ████     13.7 ± 1.3 !    188  66.1%     0     4  = 2.92 (+0.7%)
| random                 5.16 ± 0.24  ███████      25 ± 3 !    188  80.3%     0     0  = 5.00 (+3.2%)
|
| No policy can beat 1.2046: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, → limit of many servers, ≈ approximation for so many servers, with the difference of the simulation.
| *: must know how long every job will take: a lab does, a proxy does not.
| watts: mean power of a server, busy, idle, in set-up or off.
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 65k would do
$ ballast compare --servers 5x1,5x10 --load 0.8 --jobs 50k --replications 5
| 5x1,5x10 servers at load 0.8, service exp; 5 replications of 50k jobs each, seed 1
|
| policy                  mean response                      p99  watts  waits  msgs  bits  theory
| ────────────────────────────────────────────────────────────────────────────────────────────────────────
| sed                     0.243 ± 0.012  █▊        1.01 ± 0.07 !    167  66.6%     0    40
| least-work*           0.2446 ± 0.0044  █▊        2.41 ± 0.05 !    192  50.8%  20.0     0
| fastest-idle          0.2447 ± 0.0048  █▊        2.30 ± 0.04 !    190  36.9%     0    40
| jiq:else=hold         0.2459 ± 0.0037  █▊        2.42 ± 0.03 !    192  50.9%  1.00    10
| least-conn            0.2609 ± 0.0045  █▉        2.39 ± 0.04 !    192  41.7%     0    40
| jiq:else=least-conn   0.2612 ± 0.0041  █▉        2.39 ± 0.05 !    192  41.8%  0.58    10
| lsq:p=1               0.3587 ± 0.0048  ██▌       4.40 ± 0.11 !    193  43.3%  1.00    40
| jsq                   0.3589 ± 0.0053  ██▌       4.40 ± 0.08 !    193  43.3%  20.0     0
| prequal:r=3           0.3742 ± 0.0063  ██▋       3.80 ± 0.12 !    187  70.1%  6.00   800
| pi                      0.395 ± 0.015  ██▊       4.93 ± 0.15 !    193  38.6%  0.61    14
| weighted-round-robin    0.533 ± 0.028  ███▊        6.0 ± 0.7 !    188  67.6%     0    40
| weighted-random         0.877 ± 0.028  ██████▎    10.0 ± 0.6 !    188  79.9%     0     0  = 0.91 (-3.5%)
| pod-memory:d=1,b=1      0.992 ± 0.011  ███████  10.26 ± 0.19 !    193  86.0%  4.00     4
| random                       unstable                                            0     0  load < 0.182
| round-robin                  unstable                                            0     4  load < 0.182
| pod:d=2                      unstable                                         4.00     0  load < 0.364
| jiq                          unstable                                         0.67    10
| rcpb:c=1                     unstable                                         0.94     4
| tabs:mu=0.1,nu=0.1           unstable                                         0.55    20
| ewma:d=2,decay=10            unstable                                            0  1280
|
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, with the difference of the simulation.
| *: must know how long every job will take: a lab does, a proxy does not.
| watts: mean power of a server, busy, idle, in set-up or off.
| unstable: the queue grows without bound, so there is no mean. load < x: what theory allows.
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 360k would do
$ ballast compare --servers 4 --load 0.7 --service 'hyper(4)' --jobs 20k --replications 5 --policy jsq --policy pod:d=3 --policy random --seed 9
| 4 servers at load 0.7, service hyper(4); 5 replications of 20k jobs each, seed 9
|
| policy   mean response                   p50       p99  waits  msgs  bits  theory
| ──────────────────────────────────────────────────────────────────────────────────────────
| jsq        2.20 ± 0.32  ██▎      0.83 ± 0.08  19 ± 3 !  39.4%  8.00     0
| pod:d=3    2.65 ± 0.37  ██▊      1.02 ± 0.11  20 ± 3 !  49.8%  6.00     0  → 1.66 (+59.0%)
| random       6.7 ± 1.1  ███████    2.9 ± 0.7  40 ± 6 !  69.7%     0     0  = 6.83 (-2.1%)
|
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, → limit of many servers, with the difference of the simulation.
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 59k would do
$ ballast compare --servers 4 --load 0.7 --jobs 20k --replications 3 --warmup 0.1 --policy random --format csv
| policy,verdict,response.mean,response.mean.ci,response.p50,response.p50.ci,response.p90,response.p90.ci,response.p99,response.p99.ci,response.p999,response.p999.ci,waiting.mean,waiting.mean.ci,waiting.p50,waiting.p50.ci,waiting.p90,waiting.p90.ci,waiting.p99,waiting.p99.ci,waiting.p999,waiting.p999.ci,waiting.probability,waiting.probability.ci,queue.mean,queue.mean.ci,queue.total,queue.total.ci,messages.probes_per_job,messages.probes_per_job.ci,messages.reports_per_job,messages.reports_per_job.ci,messages.per_job,messages.per_job.ci,messages.per_time,messages.per_time.ci,memory.bits,memory.bits.ci,fluid.distance,fluid.distance.ci,power.mean,power.mean.ci,power.waste,power.waste.ci,power.busy,power.busy.ci,power.standby,power.standby.ci,power.setup,power.setup.ci,power.off,power.off.ci,energy.per_job,energy.per_job.ci,jobs.lost,jobs.lost.ci,jobs.refused,jobs.refused.ci,transient,transient.ci,drift,drift.ci,high.response.mean,high.response.mean.ci,high.response.p50,high.response.p50.ci,high.response.p90,high.response.p90.ci,high.response.p99,high.response.p99.ci,high.response.p999,high.response.p999.ci,high.waiting.mean,high.waiting.mean.ci,high.waiting.p50,high.waiting.p50.ci,high.waiting.p90,high.waiting.p90.ci,high.waiting.p99,high.waiting.p99.ci,high.waiting.p999,high.waiting.p999.ci,high.waiting.probability,high.waiting.probability.ci,low.response.mean,low.response.mean.ci,low.response.p50,low.response.p50.ci,low.response.p90,low.response.p90.ci,low.response.p99,low.response.p99.ci,low.response.p999,low.response.p999.ci,low.waiting.mean,low.waiting.mean.ci,low.waiting.p50,low.waiting.p50.ci,low.waiting.p90,low.waiting.p90.ci,low.waiting.p99,low.waiting.p99.ci,low.waiting.p999,low.waiting.p999.ci,low.waiting.probability,low.waiting.probability.ci,high.probes_per_job,high.probes_per_job.ci,low.probes_per_job,low.probes_per_job.ci,moves_per_high_job,moves_per_high_job.ci,stealing.requests,stealing.requests.ci,stealing.steals,stealing.steals.ci,stealing.moved,stealing.moved.ci,load.p50,load.p50.ci,load.p90,load.p90.ci,load.p99,load.p99.ci,load.p999,load.p999.ci,load.tail,load.tail.ci,load.achieved,load.achieved.ci,jobs.failed,jobs.failed.ci,jobs.gave_up,jobs.gave_up.ci,high.queue.tail.1,high.queue.tail.1.ci,high.queue.tail.2,high.queue.tail.2.ci,high.queue.tail.3,high.queue.tail.3.ci,class.1.response.mean,class.1.response.mean.ci,class.1.response.p99,class.1.response.p99.ci,class.2.response.mean,class.2.response.mean.ci,class.2.response.p99,class.2.response.p99.ci,class.3.response.mean,class.3.response.mean.ci,class.3.response.p99,class.3.response.p99.ci,class.4.response.mean,class.4.response.mean.ci,class.4.response.p99,class.4.response.p99.ci,class.5.response.mean,class.5.response.mean.ci,class.5.response.p99,class.5.response.p99.ci,class.6.response.mean,class.6.response.mean.ci,class.6.response.p99,class.6.response.p99.ci,class.7.response.mean,class.7.response.mean.ci,class.7.response.p99,class.7.response.p99.ci,class.8.response.mean,class.8.response.mean.ci,class.8.response.p99,class.8.response.p99.ci,messages.per_batch,messages.per_batch.ci,messages.per_part,messages.per_part.ci,high.refused,high.refused.ci,low.refused,low.refused.ci,class.1.refused,class.1.refused.ci,class.2.refused,class.2.refused.ci,class.3.refused,class.3.refused.ci,class.4.refused,class.4.refused.ci,class.5.refused,class.5.refused.ci,class.6.refused,class.6.refused.ci,class.7.refused,class.7.refused.ci,class.8.refused,class.8.refused.ci,queue.tail,theory.response_mean,theory.waiting_mean,theory.response_p50,theory.response_p90,theory.response_p99,theory.response_p999,theory.high.response_mean,theory.high.response_bound,theory.high.waiting_mean,theory.high.waiting_probability,theory.high.response_p50,theory.high.response_p90,theory.high.response_p99,theory.high.response_p999,theory.low.response_mean,theory.low.response_bound,theory.low.waiting_mean,theory.low.waiting_probability,theory.low.response_p50,theory.low.response_p90,theory.low.response_p99,theory.low.response_p999,theory.gave_up,theory.kind,theory.source,theory.tail,theory.expansion,theory.expansion.error,theory.fit_error,engine,replications,precise,jobs,events,time,warmup,doubts,response.rare,waiting.rare,high.response.rare,high.waiting.rare,low.response.rare,low.waiting.rare,outlasted_curve,settings
| "random",stable,3.373479948957202,0.30952384208753103,2.2778874317300914,0.15240252223451214,7.8422977941176475,0.4598582424727535,16.03260416666664,3.0161103735458155,24.135933333333302,9.169262489522048,2.3762489736608194,0.3018836992980396,1.0991443452380953,0.1691159324868306,6.682535232843137,0.3894979182619314,14.769697916666663,2.6407630287165516,22.999770833333315,9.006489824154146,0.6974355683716312,0.01639112545319251,2.3624727958757945,0.2406486862516994,9.449891183503178,0.9625947450067976,0,0,0,0,0,0,0,0,0,0,,,181.9137436743,0.7835787529117881,0.302095923597385,0.018802542992033777,0.698562394571667,0.013059645881863577,0.3014376054283329,0.013059645881863539,0,0,0,0,259.6535707744529,2.30108316549226,0,0,0,0,0,0,-0.03843712578791417,0.10814762449680049,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,0.7002722222222223,0.00827034380047315,0,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,1 0.6985623945716671 0.48754152996146943 0.34218889895415866 0.239625643283369 0.1684162030722801 0.1193437310769881 0.08662083178307754 0.06256834283380554 0.044652142139592566 0.031499001394799823 0.022425291807450776 0.015972830844374866 0.011391534297984672 0.008575274233283968 0.0063928095226745115 0.004653233644771905 0.0032696683455851754 0.0024754833084446332 0.0019104718105759915 0.0014223709016367894 0.0010402045414385553 0.000790978804315438 0.0005014988639038823 0.0002799051653488387 0.00017516238315679403 9.793978505157846e-05 4.2925182978244806e-05 3.042579985848348e-05 6.067561751241455e-06,3.333333333333333,2.333333333333333,2.310490601866484,7.675283643313485,15.350567286626967,23.025850929940454,,,,,,,,,,,,,,,,,,exact,M/M/1,1 0.7 0.48999999999999994 0.3429999999999999 0.24009999999999995 0.16806999999999994 0.11764899999999996 0.08235429999999996 0.05764800999999997 0.04035360699999998 0.028247524899999984 0.019773267429999988 0.01384128720099999 0.009688901040699992 0.006782230728489994 0.004747561509942996 0.0033232930569600965 0.0023263051398720674 0.001628413597910447 0.001139889518537313 0.0007979226629761189 0.0005585458640832833 0.00039098210485829826 0.0002736874734008088 0.00019158123138056612 0.00013410686196639628 9.387480337647739e-05 6.571236236353417e-05 4.5998653654473914e-05 3.219905755813174e-05 2.2539340290692216e-05 1.577753820348455e-05 1.1044276742439184e-05 7.73099371970743e-06 5.411695603795199e-06 3.788186922656639e-06 2.6517308458596473e-06 1.856211592101753e-06 1.2993481144712271e-06 9.095436801298589e-07 6.366805760909012e-07 4.456764032636308e-07 3.1197348228454154e-07 2.1838143759917906e-07 1.5286700631942535e-07 1.0700690442359773e-07 7.490483309651841e-08 5.243338316756288e-08 3.6703368217294013e-08 2.5692357752105807e-08 1.7984650426474064e-08 1.2589255298531844e-08 8.812478708972291e-09 6.168735096280603e-09 4.318114567396422e-09 3.022680197177495e-09 2.1158761380242465e-09 1.4811132966169724e-09 1.0367793076318806e-09,,,,markov,3,yes,54047,120147,7142.857142857143,0.1,,p99 p999,p99 p999,,,,,no,"servers=4; load=0.7; run.jobs=20000; run.replications=3; run.warmup=0.1"
$ ballast compare --servers 4 --load 0.7 --jobs 20k --replications 3 --warmup 0.1 --policy random --policy jsq --format json | sed 's/"seconds": [0-9.e-]*/"seconds": 0/'
| {
|   "version": "1.0.0",
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
|       "response": {"mean": 1.5113383741049233, "ci": 0.11383674815931198, "p50": 1.0803985349989935, "p50_ci": 0.06682258058407356, "p90": 3.427783795809991, "p90_ci": 0.24044127208636323, "p99": 6.660112847222213, "p99_ci": 0.9787324927056953, "p999": 9.842270833333336, "p999_ci": 1.471110449694511, "rare": ["p99", "p999"]},
|       "waiting": {"mean": 0.5139334344133791, "ci": 0.10119807069581692, "p50": 0, "p50_ci": 0, "p90": 1.7988118489583336, "p90_ci": 0.3042854723113563, "p99": 4.93206597222222, "p99_ci": 1.0447177115906252, "p999": 8.124697916666682, "p999_ci": 2.3892074797895195, "rare": ["p99", "p999"], "probability": 0.37880375983382836, "probability_ci": 0.02449980546238384},
|       "queue": {"mean": 1.0586358115618348, "ci": 0.08968080911043047, "total": 4.234543246247339, "total_ci": 0.3587232364417219, "tail": [1, 0.698621281755917, 0.2645369921169014, 0.07057230820077748, 0.01793076998126075, 0.005314691256999154, 0.0014516060459357865, 0.0002081622040436893]},
|       "messages": {"probes_per_job": 4, "probes_per_job_ci": 0, "reports_per_job": 0, "reports_per_job_ci": 0, "per_job": 8, "per_job_ci": 0, "per_time": 11.204355555555557, "per_time_ci": 0.1323255008075704},
|       "power": {"mean": 181.917276905355, "mean_ci": 0.9177967318685092, "waste": 0.3020256019096968, "waste_ci": 0.022033020271399372, "energy_per_job": 259.7110746159133, "energy_per_job_ci": 2.0729599721659917, "busy": 0.698621281755917, "busy_ci": 0.015296612197808304, "standby": 0.3013787182440831, "standby_ci": 0.015296612197808345, "setup": 0, "setup_ci": 0, "off": 0, "off_ci": 0},
|       "lost": 0,
|       "lost_ci": 0,
|       "refused": 0,
|       "refused_ci": 0,
|       "memory_bits": 0,
|       "verdict": "stable",
|       "doubts": [],
|       "theory": {"response_mean": 1.5115982796563974, "waiting_mean": 0.5115982796563974, "response_p50": 1.0818039048297123, "response_p90": 3.4319835258863804, "response_p99": 6.626352928710276, "response_p999": 9.739716887224859, "kind": "approximation", "source": "Markov chain", "states": 298, "lost": 1.3640819267335921e-05, "error": 0.0006185831681282645, "tail": [1, 0.7000074045441362, 0.2661680365782509, 0.06963273255361009, 0.01691652104555435, 0.004078561741176671, 0.0009886479555052308, 0.00024400531651999312, 6.279641039101425e-05, 1.680374007576595e-05, 3.2858742560836894e-06]},
|       "engine": "markov",
|       "replications": 3,
|       "precise": true,
|       "load": {"achieved": 0.7002722222222223, "ci": 0.00827034380047315, "outlasted_curve": false},
|       "transient": {"mean": 0, "ci": 0},
|       "drift": {"mean": -0.038451829385952055, "ci": 0.15661754963962163},
|       "time": 7142.857142857143,
|       "warmup": 0.1,
|       "jobs": 54036,
|       "events": 120158,
|       "seconds": 0,
|       "metrics": {
|         "response.mean": {"mean": 1.5113383741049233, "ci": 0.11383674815931198},
|         "response.p50": {"mean": 1.0803985349989935, "ci": 0.06682258058407356},
|         "response.p90": {"mean": 3.427783795809991, "ci": 0.24044127208636323},
|         "response.p99": {"mean": 6.660112847222213, "ci": 0.9787324927056953},
|         "response.p999": {"mean": 9.842270833333336, "ci": 1.471110449694511},
|         "waiting.mean": {"mean": 0.5139334344133791, "ci": 0.10119807069581692},
|         "waiting.p50": {"mean": 0, "ci": 0},
|         "waiting.p90": {"mean": 1.7988118489583336, "ci": 0.3042854723113563},
|         "waiting.p99": {"mean": 4.93206597222222, "ci": 1.0447177115906252},
|         "waiting.p999": {"mean": 8.124697916666682, "ci": 2.3892074797895195},
|         "waiting.probability": {"mean": 0.37880375983382836, "ci": 0.02449980546238384},
|         "queue.mean": {"mean": 1.0586358115618348, "ci": 0.08968080911043047},
|         "queue.total": {"mean": 4.234543246247339, "ci": 0.3587232364417219},
|         "messages.probes_per_job": {"mean": 4, "ci": 0},
|         "messages.reports_per_job": {"mean": 0, "ci": 0},
|         "messages.per_job": {"mean": 8, "ci": 0},
|         "messages.per_time": {"mean": 11.204355555555557, "ci": 0.1323255008075704},
|         "memory.bits": {"mean": 0, "ci": 0},
|         "power.mean": {"mean": 181.917276905355, "ci": 0.9177967318685092},
|         "power.waste": {"mean": 0.3020256019096968, "ci": 0.022033020271399372},
|         "power.busy": {"mean": 0.698621281755917, "ci": 0.015296612197808304},
|         "power.standby": {"mean": 0.3013787182440831, "ci": 0.015296612197808345},
|         "power.setup": {"mean": 0, "ci": 0},
|         "power.off": {"mean": 0, "ci": 0},
|         "energy.per_job": {"mean": 259.7110746159133, "ci": 2.0729599721659917},
|         "jobs.lost": {"mean": 0, "ci": 0},
|         "jobs.refused": {"mean": 0, "ci": 0},
|         "transient": {"mean": 0, "ci": 0},
|         "drift": {"mean": -0.038451829385952055, "ci": 0.15661754963962163},
|         "load.achieved": {"mean": 0.7002722222222223, "ci": 0.00827034380047315},
|         "jobs.failed": {"mean": 0, "ci": 0}
|       }
|     },
|     {
|       "policy": "random",
|       "response": {"mean": 3.373479948957202, "ci": 0.30952384208753103, "p50": 2.2778874317300914, "p50_ci": 0.15240252223451214, "p90": 7.8422977941176475, "p90_ci": 0.4598582424727535, "p99": 16.03260416666664, "p99_ci": 3.0161103735458155, "p999": 24.135933333333302, "p999_ci": 9.169262489522048, "rare": ["p99", "p999"]},
|       "waiting": {"mean": 2.3762489736608194, "ci": 0.3018836992980396, "p50": 1.0991443452380953, "p50_ci": 0.1691159324868306, "p90": 6.682535232843137, "p90_ci": 0.3894979182619314, "p99": 14.769697916666663, "p99_ci": 2.6407630287165516, "p999": 22.999770833333315, "p999_ci": 9.006489824154146, "rare": ["p99", "p999"], "probability": 0.6974355683716312, "probability_ci": 0.01639112545319251},
|       "queue": {"mean": 2.3624727958757945, "ci": 0.2406486862516994, "total": 9.449891183503178, "total_ci": 0.9625947450067976, "tail": [1, 0.6985623945716671, 0.48754152996146943, 0.34218889895415866, 0.239625643283369, 0.1684162030722801, 0.1193437310769881, 0.08662083178307754, 0.06256834283380554, 0.044652142139592566, 0.031499001394799823, 0.022425291807450776, 0.015972830844374866, 0.011391534297984672, 0.008575274233283968, 0.0063928095226745115, 0.004653233644771905, 0.0032696683455851754, 0.0024754833084446332, 0.0019104718105759915, 0.0014223709016367894, 0.0010402045414385553, 0.000790978804315438, 0.0005014988639038823, 0.0002799051653488387, 0.00017516238315679403, 9.793978505157846e-05, 4.2925182978244806e-05, 3.042579985848348e-05, 6.067561751241455e-06]},
|       "messages": {"probes_per_job": 0, "probes_per_job_ci": 0, "reports_per_job": 0, "reports_per_job_ci": 0, "per_job": 0, "per_job_ci": 0, "per_time": 0, "per_time_ci": 0},
|       "power": {"mean": 181.9137436743, "mean_ci": 0.7835787529117881, "waste": 0.302095923597385, "waste_ci": 0.018802542992033777, "energy_per_job": 259.6535707744529, "energy_per_job_ci": 2.30108316549226, "busy": 0.698562394571667, "busy_ci": 0.013059645881863577, "standby": 0.3014376054283329, "standby_ci": 0.013059645881863539, "setup": 0, "setup_ci": 0, "off": 0, "off_ci": 0},
|       "lost": 0,
|       "lost_ci": 0,
|       "refused": 0,
|       "refused_ci": 0,
|       "memory_bits": 0,
|       "verdict": "stable",
|       "doubts": [],
|       "theory": {"response_mean": 3.333333333333333, "waiting_mean": 2.333333333333333, "response_p50": 2.310490601866484, "response_p90": 7.675283643313485, "response_p99": 15.350567286626967, "response_p999": 23.025850929940454, "kind": "exact", "source": "M/M/1", "tail": [1, 0.7, 0.48999999999999994, 0.3429999999999999, 0.24009999999999995, 0.16806999999999994, 0.11764899999999996, 0.08235429999999996, 0.05764800999999997, 0.04035360699999998, 0.028247524899999984, 0.019773267429999988, 0.01384128720099999, 0.009688901040699992, 0.006782230728489994, 0.004747561509942996, 0.0033232930569600965, 0.0023263051398720674, 0.001628413597910447, 0.001139889518537313, 0.0007979226629761189, 0.0005585458640832833, 0.00039098210485829826, 0.0002736874734008088, 0.00019158123138056612, 0.00013410686196639628, 9.387480337647739e-05, 6.571236236353417e-05, 4.5998653654473914e-05, 3.219905755813174e-05, 2.2539340290692216e-05, 1.577753820348455e-05, 1.1044276742439184e-05, 7.73099371970743e-06, 5.411695603795199e-06, 3.788186922656639e-06, 2.6517308458596473e-06, 1.856211592101753e-06, 1.2993481144712271e-06, 9.095436801298589e-07, 6.366805760909012e-07, 4.456764032636308e-07, 3.1197348228454154e-07, 2.1838143759917906e-07, 1.5286700631942535e-07, 1.0700690442359773e-07, 7.490483309651841e-08, 5.243338316756288e-08, 3.6703368217294013e-08, 2.5692357752105807e-08, 1.7984650426474064e-08, 1.2589255298531844e-08, 8.812478708972291e-09, 6.168735096280603e-09, 4.318114567396422e-09, 3.022680197177495e-09, 2.1158761380242465e-09, 1.4811132966169724e-09, 1.0367793076318806e-09]},
|       "engine": "markov",
|       "replications": 3,
|       "precise": true,
|       "load": {"achieved": 0.7002722222222223, "ci": 0.00827034380047315, "outlasted_curve": false},
|       "transient": {"mean": 0, "ci": 0},
|       "drift": {"mean": -0.03843712578791417, "ci": 0.10814762449680049},
|       "time": 7142.857142857143,
|       "warmup": 0.1,
|       "jobs": 54047,
|       "events": 120147,
|       "seconds": 0,
|       "metrics": {
|         "response.mean": {"mean": 3.373479948957202, "ci": 0.30952384208753103},
|         "response.p50": {"mean": 2.2778874317300914, "ci": 0.15240252223451214},
|         "response.p90": {"mean": 7.8422977941176475, "ci": 0.4598582424727535},
|         "response.p99": {"mean": 16.03260416666664, "ci": 3.0161103735458155},
|         "response.p999": {"mean": 24.135933333333302, "ci": 9.169262489522048},
|         "waiting.mean": {"mean": 2.3762489736608194, "ci": 0.3018836992980396},
|         "waiting.p50": {"mean": 1.0991443452380953, "ci": 0.1691159324868306},
|         "waiting.p90": {"mean": 6.682535232843137, "ci": 0.3894979182619314},
|         "waiting.p99": {"mean": 14.769697916666663, "ci": 2.6407630287165516},
|         "waiting.p999": {"mean": 22.999770833333315, "ci": 9.006489824154146},
|         "waiting.probability": {"mean": 0.6974355683716312, "ci": 0.01639112545319251},
|         "queue.mean": {"mean": 2.3624727958757945, "ci": 0.2406486862516994},
|         "queue.total": {"mean": 9.449891183503178, "ci": 0.9625947450067976},
|         "messages.probes_per_job": {"mean": 0, "ci": 0},
|         "messages.reports_per_job": {"mean": 0, "ci": 0},
|         "messages.per_job": {"mean": 0, "ci": 0},
|         "messages.per_time": {"mean": 0, "ci": 0},
|         "memory.bits": {"mean": 0, "ci": 0},
|         "power.mean": {"mean": 181.9137436743, "ci": 0.7835787529117881},
|         "power.waste": {"mean": 0.302095923597385, "ci": 0.018802542992033777},
|         "power.busy": {"mean": 0.698562394571667, "ci": 0.013059645881863577},
|         "power.standby": {"mean": 0.3014376054283329, "ci": 0.013059645881863539},
|         "power.setup": {"mean": 0, "ci": 0},
|         "power.off": {"mean": 0, "ci": 0},
|         "energy.per_job": {"mean": 259.6535707744529, "ci": 2.30108316549226},
|         "jobs.lost": {"mean": 0, "ci": 0},
|         "jobs.refused": {"mean": 0, "ci": 0},
|         "transient": {"mean": 0, "ci": 0},
|         "drift": {"mean": -0.03843712578791417, "ci": 0.10814762449680049},
|         "load.achieved": {"mean": 0.7002722222222223, "ci": 0.00827034380047315},
|         "jobs.failed": {"mean": 0, "ci": 0}
|       }
|     }
|   ]
| }
