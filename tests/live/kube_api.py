# SPDX-License-Identifier: BSD-2-Clause
"""A stub of the API server of Kubernetes, for kubectl: discovery, objects, and the scale subresource of workloads. It
refuses what a real one would refuse: unknown paths, verbs, kinds and fields, missing fields, wrong types. Nothing runs;
a function is told when the number of replicas of a workload changes."""
import http.server
import json
import re
import threading
import urllib.parse

# ---- schemas: the fields that our manifests use, of the kinds that our manifests use ----
# A dict is an object: each key a field, "!" in front of it where it is required. [x] is a list, {str: x} a map.

NAMES = {str: str}
META = {"!name": str, "namespace": str, "labels": NAMES, "annotations": NAMES, "resourceVersion": str, "generation": int,
        "uid": str, "creationTimestamp": str}
INT_OR_STR = (int, str)
PROBE = {"httpGet": {"!port": INT_OR_STR, "path": str, "host": str}, "tcpSocket": {"!port": INT_OR_STR},
         "exec": {"!command": [str]}, "initialDelaySeconds": int, "periodSeconds": int, "timeoutSeconds": int,
         "failureThreshold": int, "successThreshold": int}
ENV = {"!name": str, "value": str, "valueFrom": {"fieldRef": {"!fieldPath": str}}}
CONTAINER = {"!name": str, "!image": str, "command": [str], "args": [str], "env": [ENV],
             "ports": [{"!containerPort": int, "name": str, "protocol": str}],
             "volumeMounts": [{"!name": str, "!mountPath": str, "readOnly": bool, "subPath": str}],
             "readinessProbe": PROBE, "livenessProbe": PROBE, "startupProbe": PROBE,
             "lifecycle": {"preStop": {"exec": {"!command": [str]}}}, "restartPolicy": str,
             "resources": {"requests": {str: INT_OR_STR}, "limits": {str: INT_OR_STR}},
             "securityContext": {"runAsUser": int, "runAsGroup": int, "runAsNonRoot": bool,
                                 "allowPrivilegeEscalation": bool}}
KEY_TO_PATH = [{"!key": str, "!path": str, "mode": int}]
VOLUME = {"!name": str, "configMap": {"!name": str, "items": KEY_TO_PATH, "defaultMode": int},
          "secret": {"!secretName": str, "items": KEY_TO_PATH, "defaultMode": int},
          "emptyDir": {"medium": str, "sizeLimit": INT_OR_STR}}
POD = {"metadata": {"labels": NAMES, "annotations": NAMES},
       "!spec": {"!containers": [CONTAINER], "initContainers": [CONTAINER], "volumes": [VOLUME],
                 "serviceAccountName": str, "terminationGracePeriodSeconds": int, "automountServiceAccountToken": bool,
                 "securityContext": {"fsGroup": int, "runAsUser": int, "runAsGroup": int}}}
SELECTOR = {"!matchLabels": NAMES}
WORKLOAD = {"!selector": SELECTOR, "!template": POD, "replicas": int, "minReadySeconds": int}
RULES = [{"!apiGroups": [str], "!resources": [str], "!verbs": [str], "resourceNames": [str]}]
TARGET = {"!kind": str, "!name": str, "apiVersion": str}
POLICY = {"policies": [{"!type": str, "!value": int, "!periodSeconds": int}], "stabilizationWindowSeconds": int,
          "selectPolicy": str}
BEHAVIOR = {"scaleDown": POLICY, "scaleUp": POLICY}
METRIC = {"!type": str, "external": {"!metric": {"!name": str, "selector": SELECTOR},
                                     "!target": {"!type": str, "averageValue": INT_OR_STR, "value": INT_OR_STR}}}

KINDS = {  # (apiVersion, kind): (plural, fields besides apiVersion, kind and metadata)
    ("v1", "Secret"): ("secrets", {"type": str, "stringData": NAMES, "data": NAMES}),
    ("v1", "ConfigMap"): ("configmaps", {"data": NAMES}),
    ("v1", "ServiceAccount"): ("serviceaccounts", {}),
    ("v1", "Service"): ("services", {"!spec": {"selector": NAMES, "clusterIP": str, "type": str,
                                               "publishNotReadyAddresses": bool,
                                               "!ports": [{"!port": int, "name": str, "protocol": str,
                                                           "targetPort": INT_OR_STR}]}}),
    ("apps/v1", "Deployment"): ("deployments", {"!spec": {**WORKLOAD, "strategy": {"type": str}}}),
    ("apps/v1", "StatefulSet"): ("statefulsets", {"!spec": {**WORKLOAD, "!serviceName": str, "podManagementPolicy": str}}),
    ("rbac.authorization.k8s.io/v1", "Role"): ("roles", {"!rules": RULES}),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): (
        "rolebindings", {"!roleRef": {"!apiGroup": str, "!kind": str, "!name": str},
                         "subjects": [{"!kind": str, "!name": str, "namespace": str}]}),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): (
        "horizontalpodautoscalers", {"!spec": {"!scaleTargetRef": TARGET, "!maxReplicas": int, "minReplicas": int,
                                               "metrics": [METRIC], "behavior": BEHAVIOR}}),
    ("keda.sh/v1alpha1", "ScaledObject"): (
        "scaledobjects", {"!spec": {"!scaleTargetRef": {"!name": str, "apiVersion": str, "kind": str},
                                    "pollingInterval": int, "cooldownPeriod": int, "minReplicaCount": int,
                                    "maxReplicaCount": int, "idleReplicaCount": int,
                                    "fallback": {"!failureThreshold": int, "!replicas": int},
                                    "advanced": {"restoreToOriginalReplicaCount": bool,
                                                 "horizontalPodAutoscalerConfig": {"name": str, "behavior": BEHAVIOR}},
                                    "!triggers": [{"!type": str, "!metadata": NAMES, "name": str, "metricType": str}]}}),
}

# Of the triggers of KEDA: the parameters that must be given, and those that may.
TRIGGERS = {"metrics-api": ({"url", "valueLocation", "targetValue"}, {"activationTargetValue", "format", "unsafeSsl"}),
            "prometheus": ({"serverAddress", "query", "threshold"},
                           {"activationThreshold", "namespace", "ignoreNullValues", "unsafeSsl"})}


class Fault(Exception):
    pass


def check(value, schema, where):
    """Raises Fault at the first thing that the schema does not allow."""
    if isinstance(schema, list):
        if not isinstance(value, list):
            raise Fault(f"{where}: not a list")
        for i, item in enumerate(value):
            check(item, schema[0], f"{where}[{i}]")
    elif isinstance(schema, dict) and str in schema:
        if not isinstance(value, dict):
            raise Fault(f"{where}: not a map")
        for name, item in value.items():
            check(item, schema[str], f"{where}.{name}")
    elif isinstance(schema, dict):
        check_object(value, schema, where)
    elif isinstance(value, bool) != (schema is bool) or not isinstance(value, schema):
        raise Fault(f"{where}: {value!r} is of the wrong type")


def check_object(value, schema, where):
    if not isinstance(value, dict):
        raise Fault(f"{where}: not an object")
    for name, item in value.items():
        below = schema.get(name, schema.get("!" + name))
        if below is None:
            raise Fault(f"{where}: unknown field {name!r}")
        check(item, below, f"{where}.{name}")
    missing = [name[1:] for name in schema if name[0] == "!" and name[1:] not in value]
    if missing:
        raise Fault(f"{where}: required field {missing[0]!r} is missing")


def check_references(value, kind):
    """What is no matter of types: names that must agree inside one object."""
    spec = value.get("spec", {})
    if kind in ("Deployment", "StatefulSet"):
        pod = spec["template"]
        wanted = spec["selector"]["matchLabels"].items()
        if not wanted <= pod.get("metadata", {}).get("labels", {}).items():
            raise Fault("spec.selector does not match the labels of the template")
        volumes = {volume["name"] for volume in pod["spec"].get("volumes", [])}
        for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
            for mount in container.get("volumeMounts", []):
                if mount["name"] not in volumes:
                    raise Fault(f"container {container['name']}: there is no volume {mount['name']!r}")
    for trigger in spec.get("triggers", []):
        required, optional = TRIGGERS.get(trigger["type"], (None, None))
        if required is None:
            raise Fault(f"there is no trigger {trigger['type']!r}")
        given = set(trigger["metadata"])
        if not required <= given <= required | optional:
            raise Fault(f"trigger {trigger['type']}: parameters {sorted(given)}")
        if "metricType" in trigger and trigger["metricType"] not in ("AverageValue", "Value", "Utilization"):
            raise Fault(f"metricType {trigger['metricType']!r}")


def check_manifest(value):
    """Raises Fault if it is no object that a server would take."""
    known = KINDS.get((value.get("apiVersion"), value.get("kind")))
    if not known:
        raise Fault(f"no kind {value.get('kind')!r} in {value.get('apiVersion')!r}")
    check(value, {"!apiVersion": str, "!kind": str, "!metadata": META, "status": {}, **known[1]}, value["kind"])
    if not re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", value["metadata"]["name"]):
        raise Fault(f"{value['metadata']['name']!r} is not a DNS label")
    check_references(value, value["kind"])


# ---- the server ----

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that was killed."""


class Api:
    """scaled(name, replicas) is called when spec.replicas of a workload changes."""

    def __init__(self, scaled=lambda name, replicas: None):
        self.objects, self.scaled, self.calls, self.faults = {}, scaled, [], []
        self.down = False
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", 0), self.handler())
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def add(self, value):
        check_manifest(value)
        plural = KINDS[(value["apiVersion"], value["kind"])][0]
        value = json.loads(json.dumps(value))
        value["metadata"].update(namespace="default", resourceVersion="1", generation=1, uid="1",
                                 creationTimestamp="2026-01-01T00:00:00Z")
        self.objects[(plural, value["metadata"]["name"])] = value
        if plural in ("deployments", "statefulsets"):
            self.scaled(value["metadata"]["name"], value["spec"].get("replicas", 1))
        return value

    def kubeconfig(self, path):
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "stub",
            "clusters": [{"name": "stub", "cluster": {"server": self.url}}], "users": [{"name": "stub", "user": {}}],
            "contexts": [{"name": "stub", "context": {"cluster": "stub", "user": "stub", "namespace": "default"}}]}))

    def discovery(self, path):
        groups = {version for version, _ in KINDS if "/" in version}
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": group.split("/")[0], "versions": [{"groupVersion": group, "version": group.split("/")[1]}],
                 "preferredVersion": {"groupVersion": group, "version": group.split("/")[1]}} for group in sorted(groups)]}
        for prefix, version in [("/api/v1", "v1")] + [(f"/apis/{group}", group) for group in groups]:
            if path == prefix:
                verbs = ["create", "delete", "get", "list", "patch", "update"]
                resources = [{"name": plural, "singularName": kind.lower(), "namespaced": True, "kind": kind,
                              "verbs": verbs} for (v, kind), (plural, _) in KINDS.items() if v == version]
                resources += [{"name": f"{plural}/scale", "singularName": "", "namespaced": True, "kind": "Scale",
                               "group": "autoscaling", "version": "v1", "verbs": ["get", "patch", "update"]}
                              for plural in ("deployments", "statefulsets") if version == "apps/v1"]
                return {"kind": "APIResourceList", "groupVersion": version, "apiVersion": "v1", "resources": resources}
        return None

    @staticmethod
    def scale_of(value):
        return {"kind": "Scale", "apiVersion": "autoscaling/v1",
                "metadata": {key: value["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")},
                "spec": {"replicas": value["spec"].get("replicas", 1)},
                "status": {"replicas": value["spec"].get("replicas", 1)}}

    def patch_scale(self, value, body, content_type):
        if content_type != "application/merge-patch+json":
            raise Fault(f"a patch of type {content_type}")
        check(body, {"!spec": {"!replicas": int}, "metadata": {"resourceVersion": str}}, "Scale")
        replicas = body["spec"]["replicas"]
        if replicas < 0:
            raise Fault(f"{replicas} replicas")
        if replicas != value["spec"].get("replicas", 1):
            value["metadata"]["resourceVersion"] = str(int(value["metadata"]["resourceVersion"]) + 1)
            value["metadata"]["generation"] += 1
            value["spec"]["replicas"] = replicas
            self.scaled(value["metadata"]["name"], replicas)
        return self.scale_of(value)

    def answer(self, method, target, body, content_type):
        """(status, object) for one call."""
        path = urllib.parse.urlsplit(target).path
        if method == "GET" and (found := self.discovery(path)):
            return 200, found
        match = re.fullmatch(r"/(?:api|apis)/(?:([^/]+/)?(v[^/]+))/namespaces/default/([a-z]+)(?:/([^/]+))?(/scale)?", path)
        if not match:
            return 404, None
        group, version, plural, name, scale = match.groups()
        if not any(v == (group or "") + version and p == plural for (v, _), (p, _) in KINDS.items()):
            return 404, None
        self.calls.append((method, plural, name, bool(scale), body))
        if method == "POST" and not name:
            if body.get("kind") is None or KINDS.get((body.get("apiVersion"), body["kind"]), ("",))[0] != plural:
                raise Fault(f"{body.get('kind')!r} at {path}")
            if (plural, body["metadata"]["name"]) in self.objects:
                return 409, None
            return 201, self.add(body)
        value = self.objects.get((plural, name))
        if not value:
            return 404, None
        if method == "GET":
            return 200, self.scale_of(value) if scale else value
        if method == "PATCH" and scale:
            return 200, self.patch_scale(value, body, content_type)
        raise Fault(f"{method} {path}")

    def handler(self):
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def reply(self, status, value):
                if value is None or status >= 400:
                    reasons = {404: "NotFound", 409: "AlreadyExists", 503: "ServiceUnavailable"}
                    value = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": status,
                             "message": str(value or status), "reason": reasons.get(status, "BadRequest")}
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def handle_call(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with api.lock:
                    if api.down:
                        return self.reply(503, "down")
                    try:
                        return self.reply(*api.answer(self.command, self.path, json.loads(raw) if raw else {},
                                                      self.headers.get("Content-Type")))
                    except (Fault, KeyError, ValueError) as fault:
                        api.faults.append(f"{self.command} {self.path}: {fault}")
                        return self.reply(400, fault)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_call
        return Handler
