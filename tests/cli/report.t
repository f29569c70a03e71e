# ballast report and ballast figure: what can go wrong.
$ ballast report
! ballast: report: name the file of results: ballast report FILE.db -o report.html
? 2
$ ballast report nothing.db 2>&1 | sed 's/:.*//'; ls
| ballast
$ echo 'not a database, but long enough to be looked at' >other.db; ballast report other.db -o page.html 2>&1 | grep -c other.db; ls
| 1
| other.db
$ ballast figure
! ballast: figure: name the file of results: ballast figure FILE.db [ID]
? 2
$ ballast figure x.db --format gif
! ballast: --format gif: not svg, png, pdf, eps or csv, or several of them with commas between
? 2
$ ballast figure x.db --format ''
! ballast: --format : name one or more of svg, png, pdf, eps, csv
? 2
$ ballast report a.db b.db
! ballast: report: unexpected argument 'b.db'; usage: ballast report FILE.db [options]
? 2

# A page on standard output, and places that cannot be written.
$ mkdir tiny; printf 'tiny\nnowhere\n' >tiny/paper.txt
> printf '%s\n' 'title: tiny' 'fleet: {servers: 5}' 'workload: {load: 0.5}' 'policies: [random, jsq]' \
>     'run: {jobs: 1000, replications: 2}' 'figures: [{id: bars, kind: bars, y: messages.per_job}]' >tiny/one.yaml
> ballast paper ./tiny >/dev/null && ballast report tiny/results.db | sed -n '1,2p;$p'
| <!doctype html>
| <html lang="en">
| </html>
$ ballast report tiny/results.db | grep -o '"Content-Security-Policy" content="[^;"]*'
| "Content-Security-Policy" content="default-src 'none'
$ ballast report tiny/results.db -o tiny/results.db/nowhere/page.html
! ballast: --output: 'tiny/results.db/nowhere/page.html' cannot be written: Not a directory; choose another place
? 2
$ ballast figure tiny/results.db -o tiny/results.db/nowhere
! ballast: --output tiny/results.db/nowhere: cannot be made: Not a directory
? 2
$ ballast figure tiny/results.db other
! ballast: 'tiny/results.db' has no figure 'other'
? 2

# Whoever asks for figures where none are told of is not left with nothing.
$ grep -v figures tiny/one.yaml >plain.yaml; ballast run plain.yaml --format csv >/dev/null && ballast figure plain.db
! ballast: nothing to draw: no experiment in 'plain.db' asks for a figure; add figures to its file, and run it again

# Two roles of a figure that are the same: which, and which of them is so by default.
$ sed 's/y: messages.per_job/series: policy/' tiny/one.yaml >roles.yaml; ballast run roles.yaml
! ballast: roles.yaml:6: figures: x (by default) and series are both `policy`; x, series, panels and rows must differ
? 2
