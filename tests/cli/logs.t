# How logs are read: each file by its own format, parts of them, the same one twice, and what cannot be told.
$ awk 'BEGIN { for (t = 0; t < 60; t++) printf "10.0.0.%d - - [15/Nov/2026:10:11:%02d +0000] \"GET /%s?a=1 HTTP/1.1\" %d 512 \"-\" \"curl\" 0.%03d 0.%03d\n", t % 7, t, t % 3 ? "shop" : "pay", t % 10 ? 200 : 503, 42 + t, 40 + t }' >access.log
$ awk 'BEGIN { for (t = 0; t < 60; t++) printf "{\"start_time\":\"2026-11-15T10:11:%02d.500Z\",\"path\":\"/api\",\"status\":200,\"latency_ms\":%d}\n", t, 30 + t }' >api.json
$ gzip -c access.log >copy.gz; xz -c api.json >api.json.xz; bzip2 -c api.json >api.json.bz2; zstd -q api.json -o api.json.zst
$ ballast replay access.log api.json.zst copy.gz --servers 4 --policy jsq | sed -n '/^log/p;/^format/,/^skipped/p'
| log      180 jobs in 59.94 s, mean service time 66.17 ms, longest 99 ms
| format   nginx: combined $request_time $upstream_response_time (access.log, copy.gz)
| time     $time_local (end of the request; $request_time is subtracted); whole seconds: arrivals
|          are spread at random within theirs
| service  $upstream_response_time (s)
| format   json (api.json.zst)
| time     start_time (start of the request)
| service  latency_ms (ms)
| twice    copy.gz has the same jobs as access.log: they count twice
| skipped  no line
! ballast: copy.gz has the same jobs as access.log: they count twice
$ ballast replay access.log api.json.xz --servers 4 --policy jsq --format json | jq -c '.log.files[] | [.file, .lines, .jobs, .format, .service, .spread, .same_as]'
| ["access.log",60,60,"nginx: combined $request_time $upstream_response_time","$upstream_response_time (s)",true,null]
| ["api.json.xz",60,60,"json","latency_ms (ms)",false,null]
$ ballast replay api.json.bz2 --servers 4 --policy jsq | sed -n '/^log/p'
| log      60 jobs in 59 s, mean service time 59.5 ms, longest 89 ms

# Parts of a log.
$ ballast replay access.log --servers 4 --policy jsq --from 2026-11-15T10:11:10 --to 2026-11-15T10:11:50 --path '^/pay$' --status 2xx | sed -n '/^log/p;/^left/p'
| log      12 jobs in 36.96 s, mean service time 70 ms, longest 88 ms
| left out 48 jobs by --from, --to, --path or --status
$ ballast replay access.log --servers 4 --status 4xx
! ballast: no job of these logs is left: 60 are left out by --from, --to, --path or --status
? 2
$ ballast replay access.log --servers 4 --from soon
! ballast: from 'soon' is no time; write it as in the log, or 2026-11-15, 2026-11-15T10:30, 2026-11-15T10:30:00+01:00 (UTC unless it says otherwise)
? 2
$ ballast replay access.log --servers 4 --status 20
! ballast: status '20' is none; write 200, 5xx, or a list: 2xx,304
? 2
$ ballast replay access.log --servers 4 --path '('
! ballast: pattern '(' cannot be read beyond its character 1: missing closing parenthesis
? 2

# Numbers whose meaning the log does not tell.
$ sed 's/ 0[.]0*\([0-9]*\) 0[.][0-9]*$/ \1000/' access.log >apache.log; tail -n 1 apache.log
| 10.0.0.3 - - [15/Nov/2026:10:11:59 +0000] "GET /shop?a=1 HTTP/1.1" 200 512 "-" "curl" 101000
$ ballast replay apache.log --servers 4
! ballast: 'apache.log': in which unit is column1, 71500 on average? its mean is 1.19 min (--service-field column1:ms), 71.5 ms (--service-field column1:us) or 71.5 us (--service-field column1:ns); if it is none, the log does not say how long requests took; or give the format itself (--log-format apache if it is %D)
? 2
$ ballast replay apache.log --servers 4 --policy jsq --log-format apache | sed -n '/^log/p;/^format/,/^service/p'
| log      60 jobs in 60 s, mean service time 71.5 ms, longest 101 ms
| format   apache: combined %D
| time     %t (start of the request); whole seconds: arrivals are spread at random within theirs
| service  %D (us)
$ ballast replay apache.log --servers 4 --policy jsq --service-field column1:us | sed -n '/^log/p;/^format/,/^service/p'
| log      60 jobs in 59.94 s, mean service time 71.5 ms, longest 101 ms
| format   columns: combined $column1
| time     time_local (end of the request; the service time is subtracted); whole seconds:
|          arrivals are spread at random within theirs
| service  column1 (us)
$ sed 's/latency_ms/latency/' api.json >open.json; ballast replay open.json --servers 4
! ballast: 'open.json': in which unit is latency, 59.5 on average? its mean is 59.5 s (--service-field latency:s), 59.5 ms (--service-field latency:ms) or 59.5 us (--service-field latency:us)
? 2
$ ballast fit open.json --service-field latency:ms --quiet | sed -n 's/^# *service/service/p'
| service  latency (ms)
$ printf 'arrival;service_s\n1,5;0,25\n3,5;0,75\n' >comma.csv; ballast replay comma.csv --servers 1 --policy jsq | sed -n '/^log/p;/^service/p'
| log      2 jobs in 2 s, mean service time 500 ms, longest 750 ms
| service  service_s (s, with decimal commas)

# Patterns that take too much.
$ awk 'BEGIN { printf "start,duration_s,path\n1.5,1,/"; while (n++ < 100) printf "aaaaaaaaaa"; print "!\n2.5,1,/b" }' >long.csv
$ ballast replay long.csv --servers 1 --policy jsq --high '^/((a+)+)+$'
! ballast: long.csv:2: pattern '^/((a+)+)+$' takes too much to match '/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ... aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!': more than 10000000 steps; write a simpler one
? 2
$ ballast replay long.csv --servers 1 --policy jsq --high '^/(a|b|c)*$' | grep -c ^jsq
| 1

# What is asked of a field that the log does not have: each message names an option that there is.
$ printf 'start,duration_s\n1.5,1\n2.5,1\n' >bare.csv
$ ballast replay bare.csv --servers 1 --policy jiq:else=hold --group api=^/api
! ballast: 'bare.csv': no field of the log looks like the path of a request, by which --group tells requests apart; leave that out
? 2
$ ballast replay bare.csv --servers 1 --path ^/api
! ballast: 'bare.csv': no field of the log looks like the path of a request, by which --path chooses requests; leave that out
? 2
$ ballast replay bare.csv --servers 1 --high ^/api
! ballast: 'bare.csv': no field of the log looks like the path of a request; say which one tells the class: --high-field NAME
? 2
$ ballast replay bare.csv --servers 1 --policy jsq --high ^1 --high-field start | grep -c ^jsq
| 1
