# ballast paper: a paper of our own, small enough to be run in a moment.
$ mkdir -p papers/mine papers/notes && cd papers/mine
> printf '%s\n' 'Shorter queues are shorter' 'A. Nobody, Journal of Examples, 2020' '' 'For readers.' >paper.txt
> cat >load.yaml <<'END'
> title: Response time against load
> paper: mine
> seed: 3
> fleet: {servers: 20}
> sweep: {axis: load, values: [0.5, 0.8]}
> policies: [random, {policy: "pod:d=2", label: two}]
> run: {jobs: 30k, warmup: 0, replications: 4}
> figures:
>   - {id: response, section: Figure 1}
>   - {id: slowest, y: response.p99}
> claims:
>   - {id: faster, section: 2, quote: two choices are better than one, kind: comparison, says: At both loads., measure: ratio, of: two, to: random, expect: {word: less}}
>   - {id: stable, section: 2, quote: and stable, kind: stability, says: They are stable., measure: verdict, of: two, expect: stable}
>   - {id: probes, section: 2, quote: two probes a job, kind: definition, says: Four messages., metric: messages.per_job, of: two, expect: {near: 4, within: 0}}
> quick: {run: {jobs: 20k}}
> END
> cat >figure-2.yaml <<'END'
> title: One load
> paper: mine
> fleet: {servers: 20}
> workload: {load: 0.5}
> policies: [random]
> run: {jobs: 50k, replications: 4}
> claims:
>   - {id: wrong, section: 3, quote: no time at all, kind: value, error: A misprint., says: 'One choice needs no time at all, and this is said in so many words that a line does not hold them.', of: random, expect: {most: 0.1}}
>   - {id: right, finding: wrong, says: It takes about twice as long as the work., of: random, expect: {near: 2, within: 10%}}
> END

# The list.
$ export BALLAST_PAPERS=papers; ballast paper; ballast paper --format json | jq -c .
| mine           Shorter queues are shorter
|                A. Nobody, Journal of Examples, 2020
|
| ballast paper NAME --quick judges the claims of one in a minute or two.
| [{"paper":"mine","title":"Shorter queues are shorter","source":"A. Nobody, Journal of Examples, 2020","experiments":2}]

# Claims that hold, with figures and a page.
$ export BALLAST_PAPERS=papers; ballast paper mine --quick --figure load | sed 's/[0-9.]* ± [0-9.]*/X ± X/'; ls mine-quick
| mine: Shorter queues are shorter
| A. Nobody, Journal of Examples, 2020
|
|   holds          faster, 2, comparison
|     “two choices are better than one”
|     At both loads.
|     measured X ± X at load=0.5, expected less: at most 1
|
|   holds          stable, 2, stability
|     “and stable”
|     They are stable.
|     measured stable at load=0.5, expected stable
|
|   holds          probes, 2, definition
|     “two probes a job”
|     Four messages.
|     measured 4 at load=0.5, expected X ± X %
|
| 2 claims: 2 reproduced, 0 errors of the paper confirmed, 0 undecided.
| 1 statement holds by definition.
| report.html, figures and results.db are in mine-quick/
| load-response.csv
| load-response.pdf
| load-response.png
| load-response.svg
| load-slowest.csv
| load-slowest.pdf
| load-slowest.png
| load-slowest.svg
| report.html
| results.db

# One that does not hold, and the file says why the paper is wrong. What was run before is not run again.
$ export BALLAST_PAPERS=papers; ballast paper mine --output out >text; echo $?; sed -n '/not hold/,$p' text | sed 's/[0-9.]* ± [0-9.]*/X ± X/'
| 0
|     One choice needs no time at all, and this is said in so many words that a line does not hold
|     them.
|     measured X ± X, expected at most 0.1
|     Error: A misprint.
|
|   holds, doubted: settling  faster, 2, comparison
|     “two choices are better than one”
|     At both loads.
|     measured X ± X at load=0.5, expected less: at most 1
|
|   holds          stable, 2, stability
|     “and stable”
|     They are stable.
|     measured stable at load=0.5, expected stable
|
|   holds          probes, 2, definition
|     “two probes a job”
|     Four messages.
|     measured 4 at load=0.5, expected X ± X %
|
|   holds          right, our finding on wrong
|     It takes about twice as long as the work.
|     measured X ± X, expected 2 ± 10 %
|
| 3 claims: 2 reproduced, 1 error of the paper confirmed, 0 undecided.
| 1 statement holds by definition.
| 1 finding of ours: 1 holds, 0 do not hold, 0 undecided.
| 1 of these rests on results that are doubted.
| report.html, figures and results.db are in out/

$ export BALLAST_PAPERS=papers; ballast paper mine --output out --figure 2 --format json >json; echo $?
> jq -c '.paper, .mode, (.claims[], .findings[] | [.id, .answers, .section, .verdict, .expected, (.measured > 1), (.ci > 0)])' json
| 0
| "mine"
| "plain"
| ["wrong",null,"3","does not hold","at most 0.1",true,true]
| ["right","wrong",null,"holds","2 ± 10 %",true,true]

# Findings of ours are marked in csv and Markdown too; the list of papers has neither.
$ export BALLAST_PAPERS=papers; for format in csv markdown; do ballast paper mine --output out --figure 2 --format $format | sed 's/of 20[0-9-]* in/of DAY in/; s/of [0-9]* s in all/of X s in all/; s/[0-9.]* ± [0-9.]*/X ± X/; s/,[0-9.]*,[0-9.]*,\([a-z ]*\)$/,X,X,\1/'; done
| kind,id,answers,experiment,section,quote,says,measured,at,expected,verdict,error,reason,value,ci,doubts
| value,wrong,,figure-2,3,no time at all,"One choice needs no time at all, and this is said in so many words that a line does not hold them.",X ± X,,at most 0.1,does not hold,A misprint.,,X,X,
| finding,right,wrong,figure-2,,,It takes about twice as long as the work.,X ± X,,2 ± 10 %,holds,,,X,X,
| 1 claim: 0 reproduced, 1 error of the paper confirmed, 0 undecided.
| 1 finding of ours: 1 holds, 0 do not hold, 0 undecided.
| Run of DAY in plain sizes: 4 trials of X s in all.
|
| ### What the paper says
|
| | the paper's words | where | claim, as we read it | measured | expected | |
| |---|---|---|---|---|---|
| | “no time at all” | 3 | `wrong` (value): One choice needs no time at all, and this is said in so many words that a line does not hold them. | X ± X | at most 0.1 | **the paper's error, confirmed**: A misprint. |
|
| ### What we found
|
| | what we found | finding | measured | expected | |
| |---|---|---|---|---|
| | It takes about twice as long as the work. | `right`, on `wrong` | X ± X | 2 ± 10 % | holds |
$ ballast paper --format csv
! ballast: --format: the list of papers is text or json; name a paper for its claims
? 2

# Without that reason it is a failure: exit status 1. So is one that holds although it should not.
$ sed -i 's/ error: A misprint.,//' papers/mine/figure-2.yaml; BALLAST_PAPERS=papers ballast paper mine --output out --figure 2 >text; echo $?; grep -e 'does not hold' -e claim: text
> sed -i 's/kind: comparison,/kind: comparison, error: none,/' papers/mine/load.yaml; BALLAST_PAPERS=papers ballast paper mine --output out --figure load >text; echo $?; grep claims: text
| 1
|   does not hold  wrong, 3, value
|     One choice needs no time at all, and this is said in so many words that a line does not hold
| 1 claim: 0 reproduced, 0 errors of the paper confirmed, 0 undecided, 1 not reproduced.
| 1
| 2 claims: 1 reproduced, 0 errors of the paper confirmed, 0 undecided, 1 reproduced although an error is stated.

# A claim that does not hold as it is read, while the paper is not wrong, gives a reason.
$ sed -i "s/kind: value, says: 'One/kind: value, reason: Read too sharply., says: 'One/" papers/mine/figure-2.yaml; BALLAST_PAPERS=papers ballast paper mine --output out --figure 2 >text; echo $?; grep -e 'as read' -e Reason text
| 0
|   does not hold as read  wrong, 3, value
|     Reason: Read too sharply.
| 1 claim: 0 reproduced, 0 errors of the paper confirmed, 0 undecided, 1 not as read.

# A figure can be named by itself, and a paper by its directory.
$ ballast paper ./papers/mine --quick --output one --figure slowest --format json | jq -c '[.claims[].id], .claims[1].measured'; ls one
| ["faster","stable"]
| "stable"
| load-slowest.csv
| load-slowest.pdf
| load-slowest.png
| load-slowest.svg
| report.html
| results.db

# The page and the figures can be made again from the results.
$ ballast report one/results.db -o page.html && grep -c '<figure' page.html && ballast figure one/results.db response --format svg,pdf -o .
| 2
| ./load-response.svg
| ./load-response.pdf

# Without gnuplot the claims are judged all the same, and the page says what is missing.
$ ln -s "$(command -v ballast)" only-ballast; PATH= ./only-ballast paper ./papers/mine --quick --output bare | tail -n 1; grep -c 'gnuplot-nox' bare/report.html
| report.html and results.db are in bare/
| 1
! ballast: gnuplot is not installed, and figures need it; on Debian it is in the package gnuplot-nox

# Papers are found beside the program, where it is built and where it is installed.
$ mkdir -p build usr/bin usr/share/ballast/papers/theirs && cp "$(command -v ballast)" build && cp build/ballast usr/bin
> printf 'Theirs\nElsewhere\n' >usr/share/ballast/papers/theirs/paper.txt
> env -u BALLAST_PAPERS build/ballast paper | head -n 1; env -u BALLAST_PAPERS usr/bin/ballast paper | head -n 1
| mine           Shorter queues are shorter
| theirs         Theirs

# What can go wrong.
$ cp build/ballast . && env -u BALLAST_PAPERS ./ballast paper
! ballast: the papers are not where the program was installed; set BALLAST_PAPERS to their directory
? 2
$ BALLAST_PAPERS=nowhere ballast paper
! ballast: BALLAST_PAPERS is 'nowhere', which is not a directory
? 2
$ BALLAST_PAPERS=papers ballast paper notes
! ballast: 'notes' is not a paper: its paper.txt cannot be read: No such file or directory; `ballast paper` lists the papers
? 2
$ BALLAST_PAPERS=papers ballast paper mine --figure 7
! ballast: --figure 7: there is none such in paper mine; its experiments are figure-2, load
? 2
$ BALLAST_PAPERS=papers ballast paper mine --format xml
! ballast: --format xml: not one of text, csv, json, markdown
? 2
$ BALLAST_PAPERS=papers ballast paper mine --output papers/mine/paper.txt/x
! ballast: --output papers/mine/paper.txt/x: cannot make this directory: Not a directory; choose another place
? 2
$ mkdir empty && echo nothing >empty/paper.txt && ballast paper ./empty
! ballast: paper empty has no experiments (*.yaml) in ./empty
? 2
$ echo 'title: [' >empty/broken.yaml && ballast paper ./empty 2>&1 | sed 's/: .*//'; ls empty
| ballast
| broken.yaml
| paper.txt
