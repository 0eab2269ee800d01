#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/clinic/clinic.py FOLDER [PERSONS [SEED]]: medical records in six tables, of the shape that Synthea writes.

Patients with their encounters, and under each encounter conditions, procedures, medications and immunizations, which have
codes and dates but nothing that others know: no quasi-identifiers. How often somebody comes depends on their age and on
whether they have a chronic illness; most conditions are found at few of the encounters. FOLDER/clinic/ has the tables,
FOLDER/release.yaml asks for k = 5."""
import csv
import os
import random
import sys

CLASSES = {"wellness": "planned", "outpatient": "planned", "ambulatory": "planned", "emergency": "unplanned",
           "urgentcare": "unplanned", "inpatient": "unplanned"}
CHRONIC = ["hypertension", "diabetes", "asthma", "copd", "arthritis", "depression"]
ACUTE = ["sinusitis", "bronchitis", "pharyngitis", "sprain", "fracture", "laceration", "otitis", "cystitis", "concussion"]
TABLES = {"patients": "id,birth,gender,race,zip",
          "encounters": "id,patient,year,class",
          "conditions": "id,encounter,code,start",
          "procedures": "id,encounter,code,cost",
          "medications": "id,encounter,code,cost",
          "immunizations": "id,encounter,code"}
RELEASE = """kanon: 1
input: clinic/
output: released/
entity: {table: patients, key: id}
tables:
  patients:
    key: id
    attributes:
      birth:  {role: quasi, hierarchy: {ranges: [5, 10, 20, 40]}}
      gender: {role: quasi}
      race:   {role: quasi}
      zip:    {role: quasi, hierarchy: {mask: right}}
  encounters:
    key: id
    parent: {table: patients, column: patient}
    attributes:
      year:  {role: quasi, hierarchy: {ranges: [2, 4, 8]}}
      class: {role: quasi, hierarchy: class.csv}
  conditions:
    key: id
    parent: {table: encounters, column: encounter}
    attributes: {code: {role: sensitive}, start: {role: sensitive}}
  procedures:
    key: id
    parent: {table: encounters, column: encounter}
    attributes: {code: {role: sensitive}, cost: {role: sensitive}}
  medications:
    key: id
    parent: {table: encounters, column: encounter}
    attributes: {code: {role: sensitive}, cost: {role: sensitive}}
  immunizations:
    key: id
    parent: {table: encounters, column: encounter}
    attributes: {code: {role: sensitive}}
privacy: [k: 5]
"""


def rows_of(persons, seed):
    """table -> rows of texts and numbers, without keys: (parent's place, ...)."""
    rng = random.Random(seed)
    rows = {name: [] for name in TABLES}

    def add(table, *cells):
        rows[table].append(cells)
        return len(rows[table]) - 1

    for _ in range(persons):
        birth = rng.randrange(1930, 2021)
        chronic = [c for c in CHRONIC if rng.random() < (2022 - birth) / 400]
        person = add("patients", None, birth, rng.choice("FM"), rng.choices(["white", "black", "asian", "other"], [70, 15, 10, 5])[0],
                     f"0{rng.randrange(210, 216)}{rng.randrange(10):02d}")
        for year in range(max(birth, 2012), 2022):
            age = year - birth
            if rng.random() < (0.9 if age < 18 or age > 60 else 0.35):
                visit = add("encounters", person, year, "wellness")
                for _ in range(rng.choice([1, 1, 2]) if age < 18 or rng.random() < 0.5 else 0):
                    add("immunizations", visit, rng.choice(["influenza", "tdap", "hpv", "pneumococcal"]))
                if rng.random() < 0.3:
                    add("conditions", visit, rng.choice(CHRONIC if age > 40 else ACUTE), year)
            for illness in chronic:
                if rng.random() < 0.5:
                    visit = add("encounters", person, year, rng.choice(["ambulatory", "outpatient"]))
                    add("medications", visit, f"drug for {illness}", rng.randrange(5, 200))
                    if rng.random() < 0.25:
                        add("conditions", visit, illness, year)
            for _ in range(rng.choices([0, 1, 2], [65, 27, 8])[0]):
                visit = add("encounters", person, year, rng.choices(["ambulatory", "emergency", "urgentcare", "inpatient"], [5, 2, 2, 1])[0])
                if rng.random() < 0.7:
                    add("conditions", visit, rng.choice(ACUTE), year)
                for _ in range(rng.choices([0, 1, 2, 3], [40, 35, 15, 10])[0]):
                    add("procedures", visit, f"procedure {rng.randrange(30)}", rng.randrange(50, 5000))
                if rng.random() < 0.5:
                    add("medications", visit, f"drug {rng.randrange(40)}", rng.randrange(5, 200))
    return rows


def write(folder, persons=400, seed=1):
    os.makedirs(os.path.join(folder, "clinic"))
    for name, rows in rows_of(persons, seed).items():
        with open(os.path.join(folder, "clinic", name + ".csv"), "w", newline="", encoding="utf-8") as file:
            to = csv.writer(file, lineterminator="\n")
            to.writerow(TABLES[name].split(","))
            for place, (parent, *cells) in enumerate(rows):
                to.writerow([place, *([] if parent is None else [parent]), *cells])
    with open(os.path.join(folder, "class.csv"), "w", encoding="utf-8") as file:
        file.writelines(f"{name};{group};*\n" for name, group in CLASSES.items())
    with open(os.path.join(folder, "release.yaml"), "w", encoding="utf-8") as file:
        file.write(RELEASE)


if __name__ == "__main__":
    write(sys.argv[1], *map(int, sys.argv[2:]))
