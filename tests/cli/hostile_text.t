# What comes from files and their names reaches a terminal as harmless text, whatever is in it.

$ printf 'title: "evil\\e[31mred\\a\\nforged  row"\nfleet: {servers: 2}\nworkload: {load: 0.5}\nrun: {jobs: 50, replications: 2}\n' >evil.yaml
$ printf 'policies: [{policy: jsq, label: "a\\e[2Jb\\nc"}, {policy: random, label: "=1+1"}]\n' >>evil.yaml
$ printf 'claims: [{id: c, says: "it \\e[1m holds\\nand", of: "=1+1", expect: {most: 100}}]\n' >>evil.yaml
$ ballast run evil.yaml --db evil.db | cat -v | grep -o '^evil.*\|^forged.*\|^c.*\|vs a.*\|^a.*b c\|it .\[1m.*'
| evil?[31mred? forged  row
| vs a?[2Jb c
| a?[2Jb c
| vs a?[2Jb c: response.mean compared with that of a?[2Jb c on the same arrivals
| it ?[1m holds and
$ ballast run evil.yaml --db evil.db --dry-run | head -n 1
| evil?[31mred? forged  row
$ ballast results evil.db --format csv | cut -d, -f1
| label
| a?[2Jb c
| '=1+1
$ ballast results evil.db --format json | jq -c '.experiment.title'
| "evil?[31mred? forged  row"

# So do names of files that are no text, and they make no JSON that cannot be read.
$ name=$(printf 'bad\377\033name'); cp evil.yaml "$name.yaml"; ballast run "$name.yaml" --db evil.db >/dev/null; ballast results evil.db | tail -n 1 | cut -c 1-30
|   2  bad??name   plain     4/4
$ name=$(printf 'bad\377\033name'); ballast results evil.db --run 2 --format json | jq -c .experiment.name
| "bad�\u001bname"
$ name=$(printf 'bad\377\033name'); ballast check "$name.yaml"
| bad��name.yaml: in order; plain 4 trials, quick 4 trials, full 4 trials
$ name=$(printf 'no\377\033name\nforged'); ballast run "$name.yaml"
! ballast: no??name forged.yaml: cannot be read: No such file or directory
? 2
$ name=$(printf 'no\377\033name'); ballast compare --output "no/$name"
! ballast: --output: 'no/no??name' cannot be written: No such file or directory; choose another place
? 2
$ ballast compare --servers 2 --policy "$(printf 'a\033[1m\377\nb')" 2>&1 | cut -c 1-60
| ballast: --policy a?[1m? b: unknown policy 'a?[1m? b': the p

# And what is in logs.
$ printf '\033]0;title\007 GET \377\n' >bad.log; ballast replay bad.log 2>&1 | cut -c 1-80
| ballast: 'bad.log' is not in a format that is known; its first line is '?]0;titl
$ name=$(printf 'l\377\033og'); printf 'time,service\n1700000000.1,50\n\033[31m,\377\n1700000001.1,150\n' >"$name.csv"
$ name=$(printf 'l\377\033og'); ballast replay "$name.csv" --servers 2 --policy jsq --service-field service:ms | sed -n '/skipped/,+1p'
| skipped  1 line: 1 (no time, or not one)
|          l??og.csv:3: ?[31m,?
$ name=$(printf 'l\377\033og'); ballast replay "$name.csv" --servers 2 --policy jsq --service-field service:ms --format json | jq -c '.log.files[0].file'
| "l�\u001bog.csv"
$ name=$(printf 'l\377\033og'); ballast fit "$name.csv" --service-field service:ms --quiet | sed -n '1p; /^title/p'
| # A workload fitted by ballast 1.0.0 to l��og.csv
| title: 'Fitted to l��og.csv'
