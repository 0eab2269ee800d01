# SPDX-License-Identifier: Apache-2.0
# Fills the folder in which the examples of the help texts run; see tests/docs/run.
set -e
kanon generate adult-like --rows 2000 --seed 1 > people.csv
