#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# What scripts/prove/prometheus asks Prometheus.
#
# prometheus.py OUTPUT DIRECTORY PROMTOOL
#
# OUTPUT has expositions under lines "=== NAME", several of each name. They are put into
# DIRECTORY, and served as OpenMetrics, one after the other. Prints "ok - WHAT" or
# "FAIL - WHAT" for each question.

import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

PROMETHEUS = "http://127.0.0.1:39090/api/v1/"
EXPORTER = "http://127.0.0.1:39100/metrics"
RANGE = 600
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def expect(what, good):
    print(("ok - " if good else "FAIL - ") + what, flush=True)


def get(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def query(text, at=None):
    arguments = {"query": text} if at is None else {"query": text, "time": at}
    answer = json.loads(get(PROMETHEUS + "query?" + urllib.parse.urlencode(arguments)))
    return answer["data"]["result"]


def key(labels):
    """A series, without the labels that Prometheus adds"""
    return tuple(sorted((k, v) for k, v in labels.items() if k not in ("job", "instance")))


def series(text):
    """The values of an exposition, by series"""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.match(line).groups()
        labels = {k: v.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
                  for k, v in LABEL.findall(labels or "")}
        found[key(dict(labels, __name__=name))] = float(value)
    return found


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves files as OpenMetrics, so that Prometheus is strict with them."""
    extensions_map = {".prom": "application/openmetrics-text; version=1.0.0; charset=utf-8"}

    def log_message(self, *_):
        pass


def put(directory, name, text):
    with open(os.path.join(directory, name + ".new"), "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(file.name, os.path.join(directory, name))


def wait_for(jobs, wanted):
    """Until the newest samples of each job are these; when that was, or None"""
    for _ in range(120):
        try:
            found = {job: {key(s["metric"]): s["values"][-1] for s in
                           query('{job="%s",__name__=~"perfex.*|counter.*"}[1h]' % job)}
                     for job in jobs}
        except OSError:		# It is not up yet.
            found = {}
        if found and all({k: float(found[job].get(k, (0, "nan"))[1]) for k in wanted[job]} ==
                         wanted[job] for job in jobs):
            return max(v[0] for job in jobs for v in found[job].values())
        time.sleep(0.5)
    return None


def changes(values):
    """Without repetitions: Prometheus scrapes more often than files come."""
    return [v for i, v in enumerate(values) if not i or v != values[i - 1]]


def main():
    output, directory, promtool = sys.argv[1:]
    with open(output, encoding="utf-8") as file:
        parts = re.findall(r"^=== (\S+\.prom)\n(.*?)(?=^===)", file.read(), re.S | re.M)
    cpus = [text for name, text in parts if name == "cpus.prom"]
    counters = [text for name, text in parts if name == "counters.prom"]
    expect("there are five expositions of each", len(cpus) == 5 and len(counters) == 5)
    expect("each ends as it has to", all(t.count("# EOF\n") == 1 and t.endswith("# EOF\n")
                                         for t in cpus + counters))
    steps = list(zip(series(cpus[0]).values(), series(cpus[-1]).values()))
    expect("sums rise", all(a <= b for a, b in steps) and any(a < b for a, b in steps))

    handler = lambda *args: Files(*args, directory=directory)  # noqa: E731
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 39101), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    jobs = ["node", "cpus", "counters"]
    at = None
    for of_cpus, of_pages in zip(cpus, counters):
        put(directory, "cpus.prom", of_cpus)
        put(directory, "counters.prom", of_pages)
        wanted = {"cpus": series(of_cpus), "counters": series(of_pages)}
        wanted["node"] = wanted["cpus"] | wanted["counters"]
        at = wait_for(jobs, wanted)
        if at is None:
            break
    expect("Prometheus has the last samples, of both ways", at is not None)

    scraped = get(EXPORTER)
    expect("node_exporter reads both files", "\nnode_textfile_scrape_error 0\n" in scraped and
           scraped.count("\nnode_textfile_mtime_seconds{") == 2)
    lint = subprocess.run([promtool, "check", "metrics"], input=scraped, text=True,
                          stdout=sys.stderr, check=False)
    expect("promtool has nothing to say of it", lint.returncode == 0)
    kinds = json.loads(get(PROMETHEUS + "metadata?metric=perfex_events"))["data"]
    expect("scraped as OpenMetrics, events are counters",
           [m["type"] for m in kinds.get("perfex_events", [])] == ["counter"])

    series_of = [series(c) | series(p) for c, p in zip(cpus, counters)]
    for job in jobs:
        select = '{job="%s",__name__=~"perfex.*|counter.*"}' % job
        raw = query(f"{select}[{RANGE}s]", at)
        expect(f"{job}: samples are what was counted", raw and all(
            changes([float(v) for _, v in s["values"]]) ==
            changes([of[key(s["metric"])] for of in series_of if key(s["metric"]) in of])
            for s in raw))
    expect_rates()
    server.shutdown()


def expect_rates():
    """As of the first scrape that has the last file"""
    select = 'perfex_events_total{job="node"}'
    values = query(f'perfex_events_total{{job="node",cpu="0",event="tsc"}}[{RANGE}s]')[0]["values"]
    at = next(t for t, v in values if v == values[-1][1])
    raw = {key(s["metric"]): s["values"] for s in query(f"{select}[{RANGE}s]", at)}

    def rates(function):
        return {key(s["metric"]): float(s["value"][1])
                for s in query(f"{function}({select}[{RANGE}s])", at)}

    last = rates("irate")
    mean = rates("rate")
    good = len(raw) == len(last) == len(mean) > 0
    exact = within = good
    moved = 0
    for labels, samples in raw.items():
        (t0, v0), (t1, v1) = samples[-2:]
        counted = float(v1) - float(v0)
        moved += counted > 0
        exact &= abs(last[labels[1:]] * (t1 - t0) - counted) <= 1e-6 * counted
        counted = float(v1) - float(samples[0][1])
        most = counted * (1 + 2.2 / (len(samples) - 1))
        within &= counted * (1 - 1e-9) <= mean[labels[1:]] * RANGE <= most * (1 + 1e-9)
    expect("irate() is what was counted over the time", exact and moved > 0)
    expect("rate() is what was counted, and no more than it adds at the ends", within)


if __name__ == "__main__":
    main()
