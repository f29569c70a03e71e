# What ballast server takes; tests/nginx/api has it with real dispatchers.
$ ballast server; ballast server drian 10.0.0.1:80 http://127.0.0.1:9/
! ballast: server: say what: list, add, drain, enable, disable, set, policy, reset or remove, as in ballast server drain 10.0.0.3:8080 http://127.0.0.1:8080/api/
! ballast: server: unknown action 'drian'; use list, add, drain, enable, disable, set, policy, reset or remove
? 2
$ ballast server list; ballast server drain http://127.0.0.1:9/; ballast server list 10.0.0.1:80 http://127.0.0.1:9/
! ballast: server list: name the URL of a ballast_api: ballast server list http://127.0.0.1:8080/api/
! ballast: server drain: name the server, as in 10.0.0.3:8080
! ballast: server list: name URLs only
? 2
$ ballast server drain 10.0.0.1:80 10.0.0.2:80 http://127.0.0.1:9/; ballast server drain 10.0.0.1:80 https://127.0.0.1/
! ballast: server drain: '10.0.0.2:80' is no URL; write one SERVER, and then http://HOST[:PORT]/PATH of each dispatcher
! ballast: https://127.0.0.1/: TLS is not spoken here; http://HOST[:PORT][/PATH] is
? 2
$ ballast server set 10.0.0.1:80 http://127.0.0.1:9/; ballast server drain 10.0.0.1:80 http://127.0.0.1:9/ --weight 2
! ballast: server set: say what: --weight, --max-conns or --slots
! ballast: server drain: --weight, --max-conns and --slots are for add and set
? 2
$ ballast server set 10.0.0.1:80 http://127.0.0.1:9/ --weight 0; ballast server add 10.0.0.1:80 http://127.0.0.1:9/ --slots 1.5
! ballast: --weight 0: not a whole number from 1 to 1000000
! ballast: --slots 1.5: not a whole number from 1 to 1000000
? 2
$ ballast server policy http://127.0.0.1:9/; ballast server policy random jsq http://127.0.0.1:9/
! ballast: server policy: name the policy, as in least-conn, or configured
! ballast: server policy: 'jsq' is no URL; write one POLICY, and then http://HOST[:PORT]/PATH of each dispatcher
? 2
$ ballast server enable 10.0.0.1:80 http://127.0.0.1:9/ --wait; ballast server remove 10.0.0.1:80 http://127.0.0.1:9/ --backup
! ballast: server enable: --wait is for drain, disable and remove
! ballast: server remove: --backup is for add
? 2
$ ballast server list http://127.0.0.1:9/ --format csv; ballast server list http://127.0.0.1:9/ --header token
! ballast: --format: write text or json
! ballast: --header token: write NAME: VALUE, as in 'Authorization: Bearer TOKEN'
? 2
