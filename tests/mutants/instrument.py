# SPDX-License-Identifier: Apache-2.0
"""tests/mutants/instrument.py: every mutant of a C file in one text (mutant schemata), found with libclang.

An expression E with variants A and B becomes (KANON_MUTANT(1) ? (A) : KANON_MUTANT(2) ? (B) : E), a statement that may be left out
{ if (!KANON_MUTANT(3)) S }. One mutant lives at a time, so variants hold the text as it was written.

Operators:
    boundary    < and <=, > and >= change places
    relation    < <= > >= == != become their opposite
    logic       && and || change places
    conjunct    one side of && or || is left out
    arithmetic  + -, * /, % change places; += and -=, ++ and -- too
    bits        & |, << >> change places; ~ is left out
    constant    a whole number is one more, or one less
    not         ! and unary - are left out
    condition   the condition of an if or ?: is always true, or never; that of a while never
    result      a function that answers bool answers the opposite
    statement   an assignment, a call or a jump is left out

What comes out of a macro's body, and constants that the compiler needs (sizes, labels, static tables), stay as they are.
"""
import re

import clang.cindex as clang

K = clang.CursorKind
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
BITS = {"&": "|", "|": "&", "<<": ">>", ">>": "<<", "&=": "|=", "|=": "&=", "<<=": ">>=", ">>=": "<<="}
WORDS = {K.COMPOUND_STMT: "{", K.IF_STMT: "if", K.WHILE_STMT: "while", K.DO_STMT: "do", K.FOR_STMT: "for", K.SWITCH_STMT: "switch",
         K.RETURN_STMT: "return", K.BREAK_STMT: "break", K.CONTINUE_STMT: "continue"}
POINTERS = (clang.TypeKind.POINTER, clang.TypeKind.INCOMPLETEARRAY, clang.TypeKind.CONSTANTARRAY)


class Mutant:
    def __init__(self, path, function, operator, begin, end, before, after):
        self.path, self.function, self.operator = path, function, operator
        self.begin, self.end, self.before, self.after = begin, end, before, after
        self.line = 0
        self.name = None    # path:function:operator:n, where n counts from 1
        self.number = None  # in one build


class Point:
    """A place in the text and its variants: an expression, or a statement that ends with its semicolon."""

    def __init__(self, begin, end, mutants, truth=False, statement=False):
        self.begin, self.end, self.mutants, self.truth, self.statement = begin, end, mutants, truth, statement

    def wrap(self, inner):
        if self.statement:
            return "{ if (!KANON_MUTANT(%d)) %s }" % (self.mutants[0].number, inner)
        inner = f"!!({inner})" if self.truth else f"({inner})"
        for mutant in reversed(self.mutants):
            inner = f"KANON_MUTANT({mutant.number}) ? ({mutant.after}) : {inner}"
        return f"({inner})"


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


class Walk:
    """Finds the points of one file."""

    def __init__(self, path, text):
        self.path, self.text, self.bytes = path, text, text.encode()
        self.points, self.function, self.answers_bool = [], None, False

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def cut(self, begin, end):
        return self.bytes[begin:end].decode()

    def source(self, cursor):
        return self.cut(*self.span(cursor))

    def add(self, operator, begin, end, afters, **more):
        before = self.cut(begin, end)
        mutants = [Mutant(self.path, self.function, operator, begin, end, before, after) for after in afters]
        for mutant in mutants:
            mutant.line = self.bytes.count(b"\n", 0, begin) + 1
        self.points.append(Point(begin, end, mutants, **more))

    def binary(self, cursor):
        children = list(cursor.get_children())
        if len(children) != 2:
            return
        (begin, middle), (after, end) = map(self.span, children)
        whole = self.span(cursor)
        operator = without_comments(self.cut(middle, after)).strip()
        if (begin, end) != whole or middle > after:
            return  # out of a macro
        left, right = self.cut(begin, middle), self.cut(after, end)
        pointers = [child.type.get_canonical().kind in POINTERS for child in children]
        if operator in OPPOSITE:
            if operator in BOUNDARY and not any(pointers):
                self.add("boundary", begin, end, [f"({left}) {BOUNDARY[operator]} ({right})"])
            self.add("relation", begin, end, [f"({left}) {OPPOSITE[operator]} ({right})"])
        elif operator in LOGIC:
            self.add("logic", begin, end, [f"({left}) {LOGIC[operator]} ({right})"])
            self.add("conjunct", begin, end, [f"!!({left})", f"!!({right})"])
        elif operator in ARITHMETIC and not any(pointers):
            self.add("arithmetic", begin, end, [self.changed(left, ARITHMETIC[operator], right)])
        elif operator in BITS:
            self.add("bits", begin, end, [self.changed(left, BITS[operator], right)])

    @staticmethod
    def changed(left, operator, right):
        return f"{left} {operator} ({right})" if operator.endswith("=") else f"({left}) {operator} ({right})"

    def unary(self, cursor):
        child = next(cursor.get_children(), None)
        if child is None:
            return
        (begin, end), (inner, inner_end) = self.span(cursor), self.span(child)
        prefix, suffix, operand = self.cut(begin, inner).strip(), self.cut(inner_end, end).strip(), self.cut(inner, inner_end)
        pointer = child.type.get_canonical().kind in POINTERS
        if (prefix, suffix) == ("!", ""):
            self.add("not", begin, end, [f"!!({operand})"])
        elif (prefix, suffix) == ("-", ""):
            self.add("not", begin, end, [f"({operand})"])
        elif (prefix, suffix) == ("~", ""):
            self.add("bits", begin, end, [f"({operand})"])
        elif (prefix + suffix) in ("++", "--") and not pointer:
            other = "--" if prefix + suffix == "++" else "++"
            self.add("arithmetic", begin, end, [other + operand if prefix else operand + other])

    def literal(self, cursor):
        begin, end = self.span(cursor)
        text = self.cut(begin, end)
        found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", text)
        if not found:
            return
        self.add("constant", begin, end, [f"{text} + 1"] + ([f"{text} - 1"] if int(found.group(1), 0) > 0 else []))

    def condition(self, cursor, afters):
        begin, end = self.span(cursor)
        if end > begin:
            self.add("condition", begin, end, afters, truth=True)

    def deletable(self, cursor, parent):
        """A statement that may be left out."""
        kind = cursor.kind
        if parent.kind not in (K.COMPOUND_STMT, K.IF_STMT, K.FOR_STMT, K.WHILE_STMT, K.DO_STMT, K.CASE_STMT, K.DEFAULT_STMT):
            return False
        if re.match(r"KN_(OPTIONS|SERVE)\(", self.source(cursor)):
            return False  # they declare what the rest of the function uses
        if kind == K.DO_STMT:  # KN_TRY(...)
            return not self.source(cursor).startswith("do")
        if kind in WORDS and not self.source(cursor).startswith(WORDS[kind]):
            return False
        if kind == K.RETURN_STMT:
            return parent.kind == K.IF_STMT
        if kind in (K.BREAK_STMT, K.CONTINUE_STMT):
            return True
        if kind == K.CALL_EXPR:
            return not re.match(r"kn_free|kn_\w+_free|\(void\)", self.source(cursor))
        if kind == K.UNARY_OPERATOR:
            return True
        if kind == K.COMPOUND_ASSIGNMENT_OPERATOR:
            return True
        if kind == K.BINARY_OPERATOR:
            return re.search(r"[^=!<>]=[^=]", without_comments(self.source(cursor))) is not None
        return False

    def statement(self, cursor, parent):
        if not self.deletable(cursor, parent):
            return
        begin, end = self.span(cursor)
        tail = re.match(rb"\s*;", self.bytes[end:])
        # Clauses of a for are no statements: what comes before one of those is a brace, a semicolon, a parenthesis or else.
        head = without_comments(self.cut(0, begin)).rstrip()
        if not tail or not (head.endswith(("{", "}", ";", ":", ")")) or re.search(r"\b(else|do)$", head)):
            return
        if parent.kind == K.FOR_STMT and self.span(list(parent.get_children())[-1]) != (begin, end):
            return
        self.add("statement", begin, end + len(tail.group()), [""], statement=True)

    def visit(self, cursor, parent):
        kind = cursor.kind
        if kind in (K.ENUM_DECL, K.STRUCT_DECL, K.UNION_DECL, K.CXX_UNARY_EXPR, K.STATIC_ASSERT):
            return
        children = list(cursor.get_children())
        if kind == K.VAR_DECL:
            if cursor.storage_class == clang.StorageClass.STATIC:
                return
            equals = self.bytes.find(b"=", cursor.location.offset, self.span(cursor)[1])
            children = [child for child in children if equals >= 0 and self.span(child)[0] > equals]
        self.statement(cursor, parent)
        if kind in WORDS and not self.source(cursor).startswith(WORDS[kind]):
            return  # out of a macro
        if kind == K.IF_STMT:
            self.condition(children[0], ["0", "1"])
        elif kind == K.WHILE_STMT:
            self.condition(children[0], ["0"])
        elif kind == K.CONDITIONAL_OPERATOR and len(children) == 3 and re.match(r"\s*\?", self.cut(self.span(children[0])[1], self.span(cursor)[1])):
            self.condition(children[0], ["0", "1"])
        elif kind == K.RETURN_STMT and self.answers_bool and children:
            begin, end = self.span(children[0])
            self.add("result", begin, end, [f"!({self.cut(begin, end)})"], truth=True)
        elif kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR):
            self.binary(cursor)
        elif kind == K.UNARY_OPERATOR:
            self.unary(cursor)
        elif kind == K.INTEGER_LITERAL and not self.is_fixed(cursor):
            self.literal(cursor)
        if kind == K.CASE_STMT:
            children = children[1:]
        for child in children:
            self.visit(child, cursor)

    def is_fixed(self, cursor):
        """The place of an element, [2] = ..., or the 0 of {0}."""
        begin, end = self.span(cursor)
        before, after = self.bytes[max(begin - 200, 0):begin].rstrip(), self.bytes[end:end + 200].lstrip()
        place = re.search(rb"[{,]\s*\[$", before) and re.match(rb"\]\s*=", after)
        return bool(place) or (before.endswith(b"{") and after.startswith(b"}"))

    def define(self, cursor):
        body = [child for child in cursor.get_children() if child.kind == K.COMPOUND_STMT]
        if not body:
            return
        self.function = cursor.spelling
        self.answers_bool = cursor.result_type.get_canonical().kind == clang.TypeKind.BOOL
        self.visit(body[0], cursor)

    def named(self):
        """The mutants, in the order of the text, with names."""
        counts, mutants = {}, [mutant for point in self.points for mutant in point.mutants]
        for mutant in sorted(mutants, key=lambda m: (m.begin, m.end)):
            key = mutant.function, mutant.operator
            counts[key] = counts.get(key, 0) + 1
            mutant.name = f"{self.path}:{mutant.function}:{mutant.operator}:{counts[key]}"
        return mutants

    def rendered(self):
        """The whole text with every mutant in it. Points lie inside each other or apart; of equal ones the first is outside."""
        order = sorted(range(len(self.points)), key=lambda i: (self.points[i].begin, -self.points[i].end, not self.points[i].statement, i))
        at = 0

        def text_of(begin, end):
            nonlocal at
            out, place = "", begin
            while at < len(order) and self.points[order[at]].begin < end:
                point = self.points[order[at]]
                if point.end > end:
                    raise ValueError(f"{self.path}: crossing points at {point.begin}")
                at += 1
                out += self.cut(place, point.begin) + point.wrap(text_of(point.begin, point.end))
                place = point.end
            return out + self.cut(place, end)

        return text_of(0, len(self.bytes))


def walk_file(path, text, arguments, where, headers):
    """path is what mutants are called after, where the file that the arguments compile; headers: path -> (where, text), of which
    functions count too. Returns a Walk for the file and each header that it includes and that defines something."""
    index = clang.Index.create()
    unsaved = [(where, text)] + [(place, content) for place, content in headers.values()]
    unit = index.parse(where, args=arguments, unsaved_files=unsaved)
    errors = [str(d) for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
    if errors:
        raise ValueError(f"{path}: {errors[0]}")
    walks = {where: Walk(path, text), **{place: Walk(name, content) for name, (place, content) in headers.items()}}
    for cursor in unit.cursor.get_children():
        if cursor.kind == K.FUNCTION_DECL and cursor.is_definition() and cursor.location.file and cursor.location.file.name in walks:
            walks[cursor.location.file.name].define(cursor)
    return [walk for walk in walks.values() if walk.points]
