#!/bin/bash
# A sample of what 'make test-real' does: one real client asks through 'arbor mcp --approve'.
. test/real/lib.sh
CLIENTS=$(real_clients | tail -n 1)
. test/real/60-permits.sh
