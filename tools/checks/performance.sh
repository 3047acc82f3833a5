#!/usr/bin/env bash
# docs/performance.md and the chart are what bench/results gives.
cd "$(dirname "$0")/../.." || exit 1
exec python3 bench/chart.py --check
