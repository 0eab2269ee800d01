# SPDX-License-Identifier: Apache-2.0
"""python/tests/stress.py [ROUNDS]: threads, fork, objects freed in any order, Ctrl-C: for a library with AddressSanitizer,
which ends the program at the first wrong access. It needs no other package. `make python` runs it where build-asan is.
"""

import gc
import os
import random
import resource
import signal
import sys
import threading
import time

import pykanon as kn

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 and __name__ == "__main__" else 10_000
PEOPLE = {"age": [20 + i * 7 % 60 for i in range(300)], "sex": ["f", "m", "f"] * 100, "ill": list("abcab" * 60)}
QI = {"age": kn.ranges(5, 10, 20, 40), "sex": None}


def release() -> kn.Release:
    return kn.anonymize(PEOPLE, qi=QI, sensitive="ill", k=3, method="optimal", report=False)


def threads() -> None:
    expected, failures = release().to_csv(), []

    def work() -> None:
        for _ in range(4):
            one = release()
            if one.to_csv() != expected or kn.diagnose(one, ["age", "sex"]).k < 3:
                failures.append("another release")

    running = [threading.Thread(target=work) for _ in range(16)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    assert not failures, failures


def fork() -> None:
    before = release()
    child = os.fork()
    if child == 0:
        os._exit(0 if release().to_csv() == before.to_csv() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def freed_at_random() -> None:
    draw, kept, one = random.Random(4), [], release()
    for i in range(ROUNDS):
        choice = draw.randrange(6)
        if choice == 0:
            kept.append(one.__arrow_c_stream__())
        elif choice == 1:
            kept.append(kn.Spec(qi="age", k=2))
        elif choice == 2 and i % 50 == 0:
            kept.append(one)
            one = release()
        elif choice == 3 and i % 20 == 0:
            kept.append(kn.diagnose(one, "sex"))
        elif kept:
            kept.pop(draw.randrange(len(kept)))
    del one
    let_go(kept, draw)


def let_go(kept: list, draw: random.Random) -> None:
    """Frees objects in any order."""
    draw.shuffle(kept)
    while kept:
        kept.pop()
    gc.collect()


def interrupted() -> None:
    big = kn.generate("adult-like", rows=20_000, seed=1)
    keys = ["age", "workclass", "education", "occupation", "race", "sex"]
    answered: list[float] = []
    for number in range(max(5, ROUNDS // 100)):
        sent: list[float] = []

        def send(sent: list[float] = sent) -> None:
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(random.Random(number).uniform(0.02, 0.4), send)
        try:
            timer.start()
            while True:
                kn.diagnose(big, over=keys)
        except KeyboardInterrupt:
            answered.append(time.monotonic() - sent[0])
            timer.join()
    print(f"Ctrl-C at {len(answered)} moments, answered within {max(answered):.2f} s")


def refused() -> None:
    for bad in ({"a": [1], "b": []}, {"a": []}, {"a": [object()]}):
        for _ in range(50):
            try:
                kn.diagnose(bad, "a")
            except kn.KanonError:
                continue


def many_calls() -> None:
    def used() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    for _ in range(200):
        kn.diagnose(PEOPLE, ["age", "sex"], k=2)
    before = used()
    for _ in range(1_000):
        kn.diagnose(PEOPLE, ["age", "sex"], k=2)
    gc.collect()
    print(f"1,000 calls: {(used() - before) / 1e6:+.1f} MB, {len(os.listdir('/proc/self/task'))} threads")


if __name__ == "__main__":
    for part in (threads, fork, freed_at_random, interrupted, refused, many_calls):
        part()
        print(part.__name__, "ok", flush=True)
