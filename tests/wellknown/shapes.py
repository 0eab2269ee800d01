# SPDX-License-Identifier: Apache-2.0
"""tests/wellknown/shapes.py: made-up databases of the shapes of well-known ones: Chinook, Northwind, Sakila, employees, Synthea.

Each shape has the tables and keys of the original, a few hundred made-up rows, and release files as somebody who runs such a
database would write them. `left_out` says of every table that a release does not have why. The definitions work in SQLite and in
PostgreSQL."""
import random

import harness


class Table:
    def __init__(self, columns, key, links=()):
        """`columns`: "name type, ..."; `key`: names, none if there is no primary key; `links`: (column, table)."""
        self.columns = [tuple(c.strip().split(" ", 1)) for c in columns.split(", ")]
        self.key, self.links, self.rows = key.split(), list(links), []

    def names(self):
        return [name for name, _ in self.columns]


def quoted(name):
    return f'"{name}"'


def definitions(tables, circles=True):
    """CREATE TABLE statements; without `circles` foreign keys come separately (PostgreSQL knows no table before it is made)."""
    made = []
    for name, t in tables.items():
        parts = [f"{quoted(c)} {kind}" for c, kind in t.columns]
        parts += [f"PRIMARY KEY ({', '.join(map(quoted, t.key))})"] if t.key else []
        if circles:
            parts += [f"FOREIGN KEY ({quoted(c)}) REFERENCES {quoted(to)} ({quoted(tables[to].key[0])})" for c, to in t.links]
        made.append(f"CREATE TABLE {quoted(name)} ({', '.join(parts)})")
    if not circles:
        made += [f"ALTER TABLE {quoted(name)} ADD FOREIGN KEY ({quoted(c)}) REFERENCES {quoted(to)} ({quoted(tables[to].key[0])})"
                 for name, t in tables.items() for c, to in t.links]
    return made


def literal(value):
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, (int, float)) else "'" + value.replace("'", "''") + "'"


def inserts(tables, at_once=200):
    for name, t in tables.items():
        for first in range(0, len(t.rows), at_once):
            rows = (f"({', '.join(map(literal, row))})" for row in t.rows[first:first + at_once])
            yield f"INSERT INTO {quoted(name)} VALUES {', '.join(rows)}"


def chinook(rng, persons=80):
    t = {"Artist": Table("ArtistId integer, Name text", "ArtistId"),
         "Album": Table("AlbumId integer, Title text, ArtistId integer", "AlbumId", [("ArtistId", "Artist")]),
         "Genre": Table("GenreId integer, Name text", "GenreId"),
         "MediaType": Table("MediaTypeId integer, Name text", "MediaTypeId"),
         "Track": Table("TrackId integer, Name text, AlbumId integer, MediaTypeId integer, GenreId integer, UnitPrice numeric(10,2)",
                        "TrackId", [("AlbumId", "Album"), ("MediaTypeId", "MediaType"), ("GenreId", "Genre")]),
         "Playlist": Table("PlaylistId integer, Name text", "PlaylistId"),
         "PlaylistTrack": Table("PlaylistId integer, TrackId integer", "PlaylistId TrackId",
                                [("PlaylistId", "Playlist"), ("TrackId", "Track")]),
         "Employee": Table("EmployeeId integer, LastName text, Title text, ReportsTo integer, City text", "EmployeeId",
                           [("ReportsTo", "Employee")]),
         "Customer": Table("CustomerId integer, LastName text, Country text, SupportRepId integer", "CustomerId",
                           [("SupportRepId", "Employee")]),
         "Invoice": Table("InvoiceId integer, CustomerId integer, InvoiceDate date, Total numeric(10,2)", "InvoiceId",
                          [("CustomerId", "Customer")]),
         "InvoiceLine": Table("InvoiceLineId integer, InvoiceId integer, TrackId integer, Quantity integer", "InvoiceLineId",
                              [("InvoiceId", "Invoice"), ("TrackId", "Track")])}
    t["Artist"].rows = [(i, f"Artist {i}") for i in range(1, 9)]
    t["Album"].rows = [(i, f"Album {i}", rng.randrange(1, 9)) for i in range(1, 25)]
    t["Genre"].rows = [(i, f"Genre {i}") for i in range(1, 6)]
    t["MediaType"].rows = [(1, "MPEG"), (2, "AAC")]
    t["Track"].rows = [(i, f"Song {i}", rng.randrange(1, 25) if i % 20 else None, 1 + i % 2, rng.randrange(1, 6), [0.99, 1.5][i % 2])
                       for i in range(1, 121)]
    t["Playlist"].rows = [(1, "Music"), (2, "Nineties")]
    t["PlaylistTrack"].rows = [(p, i) for p in (1, 2) for i in range(1, 121) if rng.random() < 0.4]
    t["Employee"].rows = [(1, "Adams", "Manager", None, "Edmonton")] + [(i, f"Clerk{i}", "Sales", 1, "Calgary") for i in range(2, 13)]
    t["Customer"].rows = [(i, f"Name{i}", rng.choice(["USA", "Brazil", "France"]), rng.randrange(2, 13)) for i in range(1, persons + 1)]
    for c in range(1, persons + 1):
        for _ in range(rng.randrange(1, 3)):
            number = len(t["Invoice"].rows) + 1
            t["Invoice"].rows.append((number, c, f"20{rng.randrange(9, 14):02}-0{rng.randrange(1, 10)}-11", 1.98))
            for _ in range(rng.randrange(1, 4)):
                t["InvoiceLine"].rows.append((len(t["InvoiceLine"].rows) + 1, number, rng.randrange(1, 121), 1))
    return t


def northwind(rng, persons=70):
    t = {"Region": Table("RegionID integer, RegionDescription text", "RegionID"),
         "Territories": Table("TerritoryID character varying(20), TerritoryDescription text, RegionID integer", "TerritoryID",
                              [("RegionID", "Region")]),
         "Categories": Table("CategoryID integer, CategoryName text", "CategoryID"),
         "Suppliers": Table("SupplierID integer, CompanyName text, Country text", "SupplierID"),
         "Shippers": Table("ShipperID integer, CompanyName text", "ShipperID"),
         "Products": Table("ProductID integer, ProductName text, SupplierID integer, CategoryID integer, UnitPrice numeric(10,4), "
                           "UnitsOnOrder integer", "ProductID", [("SupplierID", "Suppliers"), ("CategoryID", "Categories")]),
         "CustomerDemographics": Table("CustomerTypeID character(10), CustomerDesc text", "CustomerTypeID"),
         "Employees": Table("EmployeeID integer, LastName text, ReportsTo integer", "EmployeeID", [("ReportsTo", "Employees")]),
         "EmployeeTerritories": Table("EmployeeID integer, TerritoryID character varying(20)", "EmployeeID TerritoryID",
                                      [("EmployeeID", "Employees"), ("TerritoryID", "Territories")]),
         "Customers": Table("CustomerID character(5), CompanyName text, Country text", "CustomerID"),
         "CustomerCustomerDemo": Table("CustomerID character(5), CustomerTypeID character(10)", "CustomerID CustomerTypeID",
                                       [("CustomerID", "Customers"), ("CustomerTypeID", "CustomerDemographics")]),
         "Orders": Table("OrderID integer, CustomerID character(5), EmployeeID integer, ShipVia integer, Freight numeric(10,2)",
                         "OrderID", [("CustomerID", "Customers"), ("EmployeeID", "Employees"), ("ShipVia", "Shippers")]),
         "Order Details": Table("OrderID integer, ProductID integer, Quantity integer, Discount real", "OrderID ProductID",
                                [("OrderID", "Orders"), ("ProductID", "Products")])}
    t["Region"].rows = [(i, f"Region {i}") for i in range(1, 4)]
    t["Territories"].rows = [(f"0{i}581", f"Territory {i}", 1 + i % 3) for i in range(10, 22)]
    t["Categories"].rows = [(i, f"Category {i}") for i in range(1, 5)]
    t["Suppliers"].rows = [(i, f"Supplier {i}", ["UK", "Japan"][i % 2]) for i in range(1, 7)]
    t["Shippers"].rows = [(1, "Speedy"), (2, "United"), (3, "Federal")]
    t["Products"].rows = [(i, f"Product {i}", rng.randrange(1, 7), 1 + i % 4, 4.5 + i, rng.randrange(3)) for i in range(1, 41)]
    t["CustomerDemographics"].rows = [(f"TYPE-{i:05}", f"Kind {i}") for i in range(1, 4)]
    t["Employees"].rows = [(1, "Fuller", None)] + [(i, f"Worker{i}", 1) for i in range(2, 7)]
    t["EmployeeTerritories"].rows = [(1 + i % 6, row[0]) for i, row in enumerate(t["Territories"].rows)]
    t["Customers"].rows = [(f"C{i:04}", f"Company {i}", rng.choice(["Germany", "Mexico", "UK"])) for i in range(1, persons + 1)]
    for customer, _, _ in t["Customers"].rows:
        t["CustomerCustomerDemo"].rows += [(customer, kind) for kind, _ in t["CustomerDemographics"].rows if rng.random() < 0.4]
        for _ in range(rng.randrange(1, 3)):
            number = 10247 + len(t["Orders"].rows)
            t["Orders"].rows.append((number, customer, rng.randrange(1, 7), rng.choice([1, 2, 3, None]), 12.5))
            t["Order Details"].rows += [(number, p, rng.randrange(1, 9), 0.25) for p in rng.sample(range(1, 41), rng.randrange(1, 4))]
    return t


def sakila(rng, persons=60):
    t = {"country": Table("country_id smallint, country text", "country_id"),
         "city": Table("city_id smallint, city text, country_id smallint", "city_id", [("country_id", "country")]),
         "address": Table("address_id smallint, address text, city_id smallint", "address_id", [("city_id", "city")]),
         "language": Table("language_id smallint, name text", "language_id"),
         "category": Table("category_id smallint, name text", "category_id"),
         "actor": Table("actor_id smallint, first_name text", "actor_id"),
         "film": Table("film_id smallint, title text, language_id smallint, original_language_id smallint, rating text, "
                       "last_update timestamp", "film_id", [("language_id", "language"), ("original_language_id", "language")]),
         "film_actor": Table("actor_id smallint, film_id smallint", "actor_id film_id", [("actor_id", "actor"), ("film_id", "film")]),
         "film_category": Table("film_id smallint, category_id smallint", "film_id category_id",
                                [("film_id", "film"), ("category_id", "category")]),
         "staff": Table("staff_id smallint, first_name text, active integer, address_id smallint, store_id smallint", "staff_id",
                        [("address_id", "address"), ("store_id", "store")]),
         "store": Table("store_id smallint, manager_staff_id smallint, address_id smallint, size text", "store_id",
                        [("manager_staff_id", "staff"), ("address_id", "address")]),
         "inventory": Table("inventory_id integer, film_id smallint, store_id smallint", "inventory_id",
                            [("film_id", "film"), ("store_id", "store")]),
         "customer": Table("customer_id smallint, store_id smallint, first_name text, active integer, address_id smallint",
                           "customer_id", [("store_id", "store"), ("address_id", "address")]),
         "rental": Table("rental_id integer, rental_date timestamp, inventory_id integer, customer_id smallint, staff_id smallint",
                         "rental_id", [("inventory_id", "inventory"), ("customer_id", "customer"), ("staff_id", "staff")]),
         "payment": Table("payment_id integer, customer_id smallint, staff_id smallint, rental_id integer, amount numeric(5,2)",
                          "payment_id", [("customer_id", "customer"), ("staff_id", "staff"), ("rental_id", "rental")])}
    t["country"].rows = [(i, f"Country {i}") for i in range(1, 5)]
    t["city"].rows = [(i, f"City {i}", 1 + i % 4) for i in range(1, 13)]
    t["address"].rows = [(i, f"{i} Main Street", rng.randrange(1, 13)) for i in range(1, persons + 20)]
    t["language"].rows = [(1, "English"), (2, "French")]
    t["category"].rows = [(i, f"Category {i}") for i in range(1, 4)]
    t["actor"].rows = [(i, f"Actor {i}") for i in range(1, 7)]
    t["film"].rows = [(i, f"Film {i}", 1 + i % 2, None if i % 3 else 1, ["G", "PG", "R"][i % 3], "2006-02-15 05:03:42") for i in range(1, 16)]
    t["film_actor"].rows = [(a, f) for a in range(1, 7) for f in range(1, 16) if rng.random() < 0.3]
    t["film_category"].rows = [(f, 1 + f % 3) for f in range(1, 16)]
    t["staff"].rows = [(i, f"Clerk {i}", i % 2, i, 1 + i % 4) for i in range(1, 13)]
    t["store"].rows = [(i, i, 12 + i, ["small", "large"][i % 2]) for i in range(1, 5)]
    t["inventory"].rows = [(i, rng.randrange(1, 16), rng.randrange(1, 5)) for i in range(1, 61)]
    t["customer"].rows = [(i, rng.randrange(1, 5), f"Name {i}", int(rng.random() < 0.8), 18 + i) for i in range(1, persons + 1)]
    for c in range(1, persons + 1):
        for _ in range(rng.randrange(1, 4)):
            number = len(t["rental"].rows) + 1
            t["rental"].rows.append((number, f"2005-0{rng.randrange(5, 9)}-24 22:53:30", rng.randrange(1, 61), c, rng.randrange(1, 13)))
            if rng.random() < 0.8:
                t["payment"].rows.append((number, c, rng.randrange(1, 13), number if rng.random() < 0.95 else None, 2.99))
    return t


def employees(rng, persons=90):
    t = {"departments": Table("dept_no character(4), dept_name text", "dept_no"),
         "employees": Table("emp_no integer, birth_date date, gender text", "emp_no"),
         "dept_emp": Table("emp_no integer, dept_no character(4), from_date date", "emp_no dept_no",
                           [("emp_no", "employees"), ("dept_no", "departments")]),
         "dept_manager": Table("emp_no integer, dept_no character(4), from_date date", "emp_no dept_no",
                               [("emp_no", "employees"), ("dept_no", "departments")]),
         "titles": Table("emp_no integer, title text, from_date date", "emp_no title from_date", [("emp_no", "employees")]),
         "salaries": Table("emp_no integer, salary integer, from_date date", "emp_no from_date", [("emp_no", "employees")])}
    t["departments"].rows = [(f"d{i:03}", f"Department {i}") for i in range(1, 8)]
    for i in range(10001, 10001 + persons):
        t["employees"].rows.append((i, f"19{rng.randrange(52, 65)}-09-02", rng.choice("MF")))
        t["dept_emp"].rows += [(i, d, "1990-01-01") for d, _ in rng.sample(t["departments"].rows, rng.randrange(1, 3))]
        t["titles"].rows += [(i, title, "1995-12-01") for title in rng.sample(["Engineer", "Staff", "Senior Engineer"], rng.randrange(1, 3))]
        t["salaries"].rows += [(i, rng.randrange(40000, 90000), f"19{86 + y}-06-26") for y in range(rng.randrange(1, 4))]
    t["dept_manager"].rows = [(10001 + i, d, "1985-01-01") for i, (d, _) in enumerate(t["departments"].rows)]
    return t


ACUTE = ["Viral sinusitis", "Acute bronchitis", "Viral pharyngitis", "Sprain of ankle", "Laceration of hand", "Otitis media", "Cystitis"]
SYNTHEA_DETAILS = ["conditions", "procedures", "medications", "observations", "immunizations"]
CHRONIC = ["Hypertension", "Prediabetes", "Diabetes", "Asthma", "Anemia", "Osteoarthritis", "Hyperlipidemia"]


MANY = 400  # persons: among fewer, few are alike


def synthea(rng, persons=60 if harness.SLOW else MANY):
    """What Synthea writes to files, in about its proportions (its sample of 1,171 patients has 45 encounters each, and of every 45
    encounters 7 conditions, 30 procedures, 37 medications, 256 observations, 13 immunizations; here they are the last ten years).
    UUIDs are keys; rows below an encounter have none, and refer to the patient too. Organizations count their encounters."""
    unique = iter(range(1 << 30))

    def uuid():
        return f"{rng.getrandbits(32):08x}-{next(unique):04x}-4{rng.getrandbits(12):03x}-8{rng.getrandbits(12):03x}-{rng.getrandbits(48):012x}"

    below = "PATIENT uuid, ENCOUNTER uuid, CODE text, DESCRIPTION text"
    links = [("PATIENT", "patients"), ("ENCOUNTER", "encounters")]
    t = {"organizations": Table("Id uuid, NAME text, STATE text, UTILIZATION integer", "Id"),
         "providers": Table("Id uuid, ORGANIZATION uuid, NAME text, SPECIALITY text", "Id", [("ORGANIZATION", "organizations")]),
         "payers": Table("Id uuid, NAME text, OWNERSHIP text", "Id"),
         "patients": Table("Id uuid, BIRTHDATE date, SSN text, LAST text, MARITAL text, RACE text, GENDER text, ZIP text", "Id"),
         "encounters": Table("Id uuid, START timestamp, PATIENT uuid, PROVIDER uuid, PAYER uuid, ENCOUNTERCLASS text, COST numeric(10,2)", "Id",
                             [("PATIENT", "patients"), ("PROVIDER", "providers"), ("PAYER", "payers")]),
         "conditions": Table("START date, STOP date, " + below, "", links),
         "procedures": Table("DATE timestamp, " + below + ", BASE_COST numeric(10,2)", "", links),
         "medications": Table("START timestamp, " + below + ", TOTALCOST numeric(10,2)", "", links),
         "observations": Table("DATE timestamp, " + below + ", VALUE text", "", links),
         "immunizations": Table("DATE timestamp, " + below, "", links)}
    t["payers"].rows = [(uuid(), name, kind) for name, kind in [("Medicare", "GOVERNMENT"), ("Medicaid", "GOVERNMENT"), ("Humana", "PRIVATE"),
                                                                ("Aetna", "PRIVATE"), ("NO_INSURANCE", None)]]
    organizations = [uuid() for _ in range(6)]
    t["providers"].rows = [(uuid(), organizations[i % 6], f"Dr. {i}", "GENERAL PRACTICE") for i in range(24)]
    visits = dict.fromkeys(organizations, 0)

    def visit(patient, provider, payer, year, kind):
        day = f"{year}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        visits[provider[1]] += 1
        t["encounters"].rows.append((uuid(), day + " 10:15:00", patient, provider[0], payer, kind, 129.16))
        return t["encounters"].rows[-1][0], day

    def add(table, patient, at, text, *more):
        first = (at[1], None) if table == "conditions" else (at[1] + " 10:15:00",)
        t[table].rows.append((*first, patient, at[0], str(10000 + sum(map(ord, text))), text, *more))

    for i in range(persons):
        patient, birth, provider, payer = uuid(), rng.randrange(1925, 2019), rng.choice(t["providers"].rows), rng.choice(t["payers"].rows)[0]
        t["patients"].rows.append((patient, f"{birth}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}", f"999-{i:06}", f"Name{i}",
                                   rng.choice(["M", "S", None]), rng.choices(["white", "black", "asian", "other"], [70, 15, 10, 5])[0],
                                   rng.choice("FM"), f"0{rng.randrange(2101, 2121)}"))
        ill = [c for c in CHRONIC if rng.random() < (2020 - birth) / 400]
        onset = {c: rng.randrange(max(birth, 2005), 2020) for c in ill}
        for year in range(max(birth, 2010), 2020):
            age = year - birth
            if rng.random() < (0.95 if age < 18 or age > 64 else 0.4):
                at = visit(patient, provider, payer, year, "wellness")
                for name in ["Height", "Weight", "Pain", "Blood pressure", "Heart rate", "Respiration", "BMI", "Tobacco"][:5 if age < 3 else 8]:
                    add("observations", patient, at, name, str(rng.randrange(50, 200)))
                for name in ["Glucose", "Urea", "Creatinine", "Sodium", "HDL", "LDL"] if ill and rng.random() < 0.8 else []:
                    add("observations", patient, at, name, str(rng.randrange(50, 200)))
                for name in ["Influenza", "DTaP", "IPV"][:3 if age < 2 else 1]:
                    add("immunizations", patient, at, name)
                if rng.random() < 0.5:
                    add("procedures", patient, at, "Medication reconciliation", 431.4)
                for name in [c for c in ill if onset[c] == year]:
                    add("conditions", patient, at, name)
                for name in ill:
                    if onset[name] <= year and rng.random() < 0.6:
                        add("medications", patient, at, "Drug for " + name, 43.2)
            for name in ill:
                if onset[name] <= year and rng.random() < 0.4:
                    at = visit(patient, provider, payer, year, rng.choice(["ambulatory", "outpatient"]))
                    add("procedures", patient, at, "Treatment of " + name, 516.65)
                    add("medications", patient, at, "Drug for " + name, 43.2)
            for _ in range(rng.choices([0, 1, 2], [62, 30, 8])[0]):
                at = visit(patient, rng.choice(t["providers"].rows), payer, year,
                           rng.choices(["ambulatory", "emergency", "urgentcare", "inpatient"], [6, 2, 2, 1])[0])
                if rng.random() < 0.6:
                    add("conditions", patient, at, rng.choice(ACUTE))
                for _ in range(rng.choices([0, 1, 2], [45, 40, 15])[0]):
                    add("procedures", patient, at, f"Procedure {rng.randrange(30)}", 2000.5)
                if rng.random() < 0.5:
                    add("medications", patient, at, f"Drug {rng.randrange(40)}", 12.25)
    t["organizations"].rows = [(o, f"Hospital {i}", ["MA", "NH"][i % 2], visits[o]) for i, o in enumerate(organizations)]
    return t


class Release:
    """A release file without input and output, and what the tests count: persons and details as table -> (parent, column of the
    link, quasi-identifiers), references, and why tables are left out; k, and the share of rows of tables that are to be kept."""

    def __init__(self, text, persons, details, references, left_out, k=3, kept=()):
        self.text, self.persons, self.details, self.references, self.left_out = text, persons, details, references.split(), left_out
        self.k, self.kept = k, dict(kept)


RELEASES = {
    "chinook": (chinook, Release("""
entity: {table: Customer}
tables:
  Customer: {attributes: {Country: {role: quasi}}}
  Invoice: {attributes: {InvoiceDate: {role: quasi, hierarchy: {calendar: [year]}}, Total: {role: sensitive}}}
  InvoiceLine: {attributes: {TrackId: {role: quasi}, Quantity: {role: sensitive}}}
  Track: {reference: true, groups: [AlbumId]}  # by album, then by artist
  Album: {reference: true}
  Artist: {reference: true}
  Genre: {reference: true}
  MediaType: {reference: true}
  Playlist: {reference: true}
  PlaylistTrack: {reference: true}
""", ("Customer", "CustomerId", ["Country"]),
        {"Invoice": ("Customer", "CustomerId", "InvoiceId", ["InvoiceDate"]), "InvoiceLine": ("Invoice", "InvoiceId", "InvoiceLineId", ["TrackId"])},
        "Track Album Artist Genre MediaType Playlist PlaylistTrack", {"Employee": "other persons than the customers"})),
    "chinook-staff": (chinook, Release("""
entity: {table: Employee}
tables:
  Employee: {ignore: [ReportsTo], attributes: {Title: {role: quasi}, City: {role: quasi}}}
  Customer: {attributes: {Country: {role: quasi}}}
""", ("Employee", "EmployeeId", ["Title", "City"]), {"Customer": ("Employee", "SupportRepId", "CustomerId", ["Country"])}, "",
        dict.fromkeys("Track Album Artist Genre MediaType Playlist PlaylistTrack Invoice InvoiceLine".split(),
                      "nothing that the staff do"))),
    "northwind": (northwind, Release("""
entity: {table: Customers}
tables:
  Customers: {attributes: {Country: {role: quasi}}}
  CustomerCustomerDemo: {attributes: {CustomerTypeID: {role: quasi}}}
  Orders: {attributes: {ShipVia: {role: quasi}, Freight: {role: sensitive}}}
  Order Details: {attributes: {ProductID: {role: quasi}, Quantity: {role: sensitive}}}
  Products: {reference: true, groups: [CategoryID], attributes: {UnitsOnOrder: {role: identifier}}}  # orders change it
  Categories: {reference: true}
  Suppliers: {reference: true}
  Shippers: {reference: true}
  CustomerDemographics: {reference: true}
  Territories: {reference: true}
  Region: {reference: true}
""", ("Customers", "CustomerID", ["Country"]),
        {"CustomerCustomerDemo": ("Customers", "CustomerID", None, ["CustomerTypeID"]),
         "Orders": ("Customers", "CustomerID", "OrderID", ["ShipVia"]), "Order Details": ("Orders", "OrderID", None, ["ProductID"])},
        "Products Categories Suppliers Shippers CustomerDemographics Territories Region",
        {"Employees": "other persons than the customers", "EmployeeTerritories": "belongs to Employees"})),
    "northwind-labels": (northwind, Release("""
entity: {table: Customers}
tables:
  Customers: {attributes: {Country: {role: quasi}}}
  Orders: {attributes: {ShipVia: {role: quasi}, Freight: {role: sensitive}}}
  Order Details: {attributes: {ProductID: {role: quasi}, Quantity: {role: sensitive}}}
  Products: {reference: true, broader: labels, groups: [CategoryID], attributes: {UnitsOnOrder: {role: identifier}}}
  Categories: {reference: true}
  Suppliers: {reference: true}
  Shippers: {reference: true, broader: labels}
""", ("Customers", "CustomerID", ["Country"]),
        {"Orders": ("Customers", "CustomerID", "OrderID", ["ShipVia", "ShipVia_label"]),
         "Order Details": ("Orders", "OrderID", None, ["ProductID", "ProductID_label"])}, "Products Categories Suppliers Shippers",
        dict.fromkeys("Employees EmployeeTerritories CustomerCustomerDemo CustomerDemographics Territories Region".split(),
                      "not what is asked for"))),
    "sakila": (sakila, Release("""
entity: {table: customer}
tables:
  customer: {attributes: {store_id: {role: quasi}, active: {role: quasi}}}
  rental: {attributes: {inventory_id: {role: quasi}, rental_date: {role: keep}}}
  payment: {attributes: {amount: {role: sensitive}}}
  inventory: {reference: true, groups: [film_id]}  # by film, then by rating
  film: {reference: true, groups: [rating]}
  film_actor: {reference: true}
  film_category: {reference: true}
  actor: {reference: true}
  category: {reference: true}
  language: {reference: true}
  store: {reference: true, groups: [size], attributes: {manager_staff_id: {role: identifier}, address_id: {role: identifier}}}
  city: {reference: true}
  country: {reference: true}
""", ("customer", "customer_id", ["store_id", "active"]),
        {"rental": ("customer", "customer_id", "rental_id", ["inventory_id"]), "payment": ("rental", "rental_id", "payment_id", [])},
        "inventory film film_actor film_category actor category language store city country",
        {"staff": "other persons than the customers", "address": "rows made for one customer"})),
    "sakila-staff": (sakila, Release("""
entity: {table: staff}
tables:
  staff: {attributes: {active: {role: quasi}, store_id: {role: quasi}}}
  store: {reference: true, ignore: [manager_staff_id], groups: [size]}  # staff and store refer to each other
""", ("staff", "staff_id", ["active", "store_id"]), {}, "store",
        dict.fromkeys("country city address language category actor film film_actor film_category inventory customer rental payment".split(),
                      "nothing that the staff do"))),
    "employees": (employees, Release("""
entity: {table: employees}
tables:
  employees: {attributes: {birth_date: {role: quasi, hierarchy: {calendar: [year, decade]}}, gender: {role: quasi}}}
  dept_emp: {attributes: {dept_no: {role: quasi}}}
  dept_manager: {attributes: {dept_no: {role: quasi}}}
  titles: {key: [], attributes: {title: {role: quasi}, from_date: {role: sensitive}}}
  salaries: {key: [], attributes: {salary: {role: sensitive}}}
  departments: {reference: true}
""", ("employees", "emp_no", ["birth_date", "gender"]),
        {"dept_emp": ("employees", "emp_no", None, ["dept_no"]), "dept_manager": ("employees", "emp_no", None, ["dept_no"]),
         "titles": ("employees", "emp_no", None, ["title"]), "salaries": ("employees", "emp_no", None, [])}, "departments", {})),
    "synthea": (synthea, Release("""
entity: {table: patients}
tables:
  patients:
    attributes:
      BIRTHDATE: {role: quasi, hierarchy: {calendar: [year, decade]}}
      GENDER: {role: quasi}
      RACE: {role: quasi}
      ZIP: {role: quasi, hierarchy: {mask: right}}
      MARITAL: {role: keep}
  encounters:
    attributes:
      START: {role: quasi, hierarchy: {calendar: [year]}}
      ENCOUNTERCLASS: {role: quasi, hierarchy: encounterclass.csv}
      PAYER: {role: keep}
      COST: {role: sensitive}
  conditions: {attributes: {CODE: {role: sensitive}, DESCRIPTION: {role: keep}}}
  procedures: {attributes: {CODE: {role: sensitive}, DESCRIPTION: {role: keep}, BASE_COST: {role: sensitive}}}
  medications: {attributes: {CODE: {role: sensitive}, DESCRIPTION: {role: keep}, TOTALCOST: {role: sensitive}}}
  observations: {attributes: {CODE: {role: sensitive}, DESCRIPTION: {role: keep}, VALUE: {role: sensitive}}}
  immunizations: {attributes: {CODE: {role: sensitive}, DESCRIPTION: {role: keep}}}
  payers: {reference: true}
  providers: {reference: true}
  organizations: {reference: true, attributes: {UTILIZATION: {role: identifier}}}  # it counts encounters
""", ("patients", "Id", ["BIRTHDATE", "GENDER", "RACE", "ZIP"]),
        {"encounters": ("patients", "PATIENT", "Id", ["START", "ENCOUNTERCLASS"])} |
        {name: ("encounters", "ENCOUNTER", None, []) for name in SYNTHEA_DETAILS}, "payers providers organizations", {}, 5, {"conditions": 0.6})),
}

# Files that release files name.
FILES = {"encounterclass.csv": "".join(f"{name};{group};*\n" for group, names in {
    "planned": ["wellness", "ambulatory", "outpatient"], "unplanned": ["emergency", "urgentcare", "inpatient"]}.items() for name in names)}

# Where a proposal from structure and names alone is not what the release file says: city is reached through addresses only, and
# Northwind's names of kinds of customers speak of customers, its territories are reached through employees.
UNSURE = {"sakila": {"city": "outside", "country": "outside"},
          "northwind": {"CustomerDemographics": "outside", "Territories": "outside", "Region": "outside"}}


def make(name, seed=1, *persons):
    builder, release = RELEASES[name]
    made = builder(random.Random(seed), *persons)
    release.kept = release.kept if len(made[release.persons[0]].rows) >= MANY else {}
    return made, release
