#!/usr/bin/python3
"""Finds places in C++ sources where a small change should make a test fail, and writes all these changes into a copy
of the source at once, each behind a number that the environment chooses (tools/mutation/mutant.h).

Places are found by Debian's libclang: operators, signs and numbers in the bodies of functions, as long as they are
not needed while compiling. The edge of a comparison (< to <=) is moved between integers only: whether two rounded
numbers are equal is no part of what a program means. Insertions never add a line, so that compilers speak of the lines of the original.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

try:
    from clang.cindex import CursorKind, Index, TypeKind
except ImportError:
    sys.exit("tools/mutants.py: needs Debian's python3-clang-14")

SPACE = "bagwise_mutant"
EDGES = {"<": ("less", "<=", ">="), "<=": ("at_most", "<", ">"), ">": ("more", ">=", "<="), ">=": ("at_least", ">", "<")}
EQUAL = {"==": ("same", "!="), "!=": ("differs", "==")}
PRODUCTS = {"*": ("times", "/"), "/": ("over", "*"), "%": ("remainder", "/")}
SIGNS = {"+": "-", "-": "+"}
ASSIGNED = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
JOINTS = {"&&": "||", "||": "&&"}
BINARY = (*EDGES, *EQUAL, *PRODUCTS, *SIGNS, *ASSIGNED, *JOINTS)

FUNCTIONS = (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
             CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE, CursorKind.LAMBDA_EXPR)
PASSED_OVER = (CursorKind.STATIC_ASSERT, CursorKind.FIELD_DECL, CursorKind.PARM_DECL, CursorKind.ENUM_DECL,
               CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF, CursorKind.TEMPLATE_TYPE_PARAMETER,
               CursorKind.TEMPLATE_NON_TYPE_PARAMETER, CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPEDEF_DECL)
ARITHMETIC = range(TypeKind.CHAR_U.value, TypeKind.LONGDOUBLE.value + 1)  # bool is not in it
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Mutant(NamedTuple):
    """One change: where, what it says before and after, and the number of the change (see edits)."""
    file: str
    offset: int
    line: int
    before: str
    after: str
    text: str  # the line with the change marked, as "a {+ -> -} b"

    @property
    def place(self):
        """Names the mutant whatever stands above it in the file."""
        return f"{self.file} | {self.text}"


class Wrap(NamedTuple):
    """Text put around [begin, end) of a source; of those around the same, the first is outermost."""
    begin: int
    end: int
    before: str
    after: str


class Swap(NamedTuple):
    """Text put in the place of [begin, end)."""
    begin: int
    end: int
    text: str


class Change(NamedTuple):
    """Mutants that are written into the source together: where {0}, {1} stand in the edits go their numbers."""
    mutants: tuple
    edits: tuple


def marked(source, begin, end, after):
    """The line around [begin, end) with the change marked."""
    first = source.rfind("\n", 0, begin) + 1
    last = source.find("\n", end)
    line = source[first:begin] + "{" + source[begin:end] + " -> " + after + "}" + source[end:last if last >= 0 else None]
    return " ".join(line.split())


def made(file, source, begin, end, after):
    return Mutant(file, begin, source.count("\n", 0, begin) + 1, source[begin:end], after,
                  marked(source, begin, end, after))


def changed_number(text):
    """What bagwise_mutant::number makes of a literal, as text; None of one that is no plain number."""
    plain = text.replace("'", "")
    try:
        value = int(plain.rstrip("uUlLzZ"), 0) if re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlLzZ]*", plain) else None
        if value is None:
            value = float(plain.rstrip("fFlL"))
    except ValueError:
        return None
    if value in (0, 1):
        return str(1 - value)
    return f"{text} + 1" if value < 2 else f"2 * {text}"


class Finder:
    """Walks through what libclang knows of one file."""

    def __init__(self, file, source):
        self.file, self.source, self.changes = file, source, []

    def between(self, left, right):
        """(begin, end) of the operator between two operands, or None where there is more than an operator."""
        begin, end = left.extent.end.offset, right.extent.start.offset
        if begin > end:
            return None
        bare = COMMENT.sub(lambda found: " " * len(found[0]), self.source[begin:end])
        text = bare.strip()
        if text not in BINARY:
            return None
        at = begin + bare.index(text)
        return at, at + len(text)

    def add(self, begin, end, afters, edits):
        mutants = tuple(made(self.file, self.source, begin, end, after) for after in afters)
        self.changes.append(Change(mutants, tuple(edits)))

    def call(self, whole, operator, name, numbers):
        """The operator as a function of both sides."""
        return [Wrap(*whole, f"{SPACE}::{name}({numbers}, ", ")"), Swap(*operator, ",")]

    def binary(self, cursor, left, right):
        found = self.between(left, right)
        if found is None:
            return
        sign = self.source[slice(*found)]
        whole, other = span(cursor), span(right)
        if not self.is_inside(whole):
            return
        turn = f") != {SPACE}::on({{0}}))"
        if sign in EDGES and yields_bool(cursor):
            name, edge, turned = EDGES[sign]
            if is_floating(left) or is_floating(right):
                self.add(*found, (turned,), [Wrap(*whole, "((", turn)])
            else:
                self.add(*found, (edge, turned), self.call(whole, found, name, "{0}, {1}"))
        elif sign in EQUAL and yields_bool(cursor):
            name, after = EQUAL[sign]
            self.add(*found, (after,), self.call(whole, found, name, "{0}"))
        elif sign in JOINTS and yields_bool(cursor):
            # De Morgan: a || b is !(!a && !b).
            self.add(*found, (JOINTS[sign],), [Wrap(*whole, "((", turn), Wrap(*span(left), "(bool(", turn),
                                               Wrap(*other, "(bool(", turn)])
        elif sign in PRODUCTS and all(map(is_number, (left, right))):
            name, after = PRODUCTS[sign]
            self.add(*found, (after,), self.call(whole, found, name, "{0}"))
        elif sign in ("*", "/", *SIGNS) and can_be_negative(right):
            after = SIGNS.get(sign, f"{sign} -")
            self.add(*found, (after,), [Wrap(*other, f"{SPACE}::flip({{0}}, ", ")")])
        elif sign in ASSIGNED and can_be_negative(right):
            if sign in ("+=", "-="):
                self.add(*found, (ASSIGNED[sign],), [Wrap(*other, f"{SPACE}::flip({{0}}, ", ")")])
            elif is_floating(right):
                self.add(*found, (ASSIGNED[sign],), [Wrap(*other, f"{SPACE}::inverse({{0}}, ", ")")])
            else:
                self.add(*found, (f"{sign} -",), [Wrap(*other, f"{SPACE}::flip({{0}}, ", ")")])

    def unary(self, cursor, operand):
        begin, end = span(cursor)
        sign = self.source[begin:operand.extent.start.offset].strip()
        if not self.is_inside((begin, end)):
            return
        if sign == "-" and can_be_negative(cursor):
            self.add(begin, begin + 1, ("",), [Wrap(begin, end, f"{SPACE}::flip({{0}}, ", ")")])
        elif sign == "!":
            self.add(begin, begin + 1, ("",), [Wrap(begin, end, "(bool(", f") != {SPACE}::on({{0}}))")])

    def literal(self, cursor):
        begin, end = span(cursor)
        if not self.is_inside((begin, end)):
            return
        after = changed_number(self.source[begin:end])
        if after is not None:
            self.add(begin, end, (after,), [Wrap(begin, end, f"{SPACE}::number({{0}}, ", ")")])

    def is_inside(self, extent):
        return 0 <= extent[0] < extent[1] <= len(self.source)

    def look_at(self, cursor, inside):
        if cursor.kind in PASSED_OVER:
            return
        children = list(cursor.get_children())
        if cursor.kind in FUNCTIONS:
            if self.is_constant(cursor):
                return
            inside = True
        elif cursor.kind == CursorKind.VAR_DECL:
            if self.is_constant(cursor):
                return
            children = [child for child in children if child.extent.start.offset > cursor.location.offset]
        elif cursor.kind == CursorKind.CASE_STMT:
            children = children[1:]
        elif cursor.kind == CursorKind.IF_STMT and re.match(r"if\s+constexpr\b", self.source[cursor.extent.start.offset:]):
            children = children[1:]
        elif inside:
            self.expression(cursor, children)
        for child in children:
            self.look_at(child, inside)

    def expression(self, cursor, children):
        kind = cursor.kind
        if kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
            if len(children) == 2:
                self.binary(cursor, *children)
        elif kind == CursorKind.UNARY_OPERATOR:
            if len(children) == 1:
                self.unary(cursor, children[0])
        elif kind == CursorKind.CALL_EXPR and cursor.spelling.startswith("operator"):
            sides = [child for child in children if child.spelling != cursor.spelling or len(span_text(self, child)) > 2]
            if len(sides) == 2 and cursor.spelling[len("operator"):] in BINARY:
                self.binary(cursor, *sides)
            elif len(sides) == 1 and cursor.spelling == "operator-":
                self.unary(cursor, sides[0])
        elif kind in (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL):
            self.literal(cursor)

    def is_constant(self, cursor):
        head = self.source[cursor.extent.start.offset:cursor.location.offset]
        return re.search(r"\bconst(expr|eval|init)\b", head) is not None


def span(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


def span_text(finder, cursor):
    return finder.source[slice(*span(cursor))]


def yields_bool(cursor):
    return cursor.type.get_canonical().kind == TypeKind.BOOL or is_open(cursor)


def is_open(cursor):
    """Whether what it is depends on the parameters of a template."""
    found = cursor.type.get_canonical()
    return found.kind == TypeKind.DEPENDENT or found.spelling.startswith("type-parameter-")


def is_number(cursor):
    return cursor.type.get_canonical().kind.value in ARITHMETIC or is_open(cursor)


def is_floating(cursor):
    return cursor.type.get_canonical().kind in (TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE)


def can_be_negative(cursor):
    return is_number(cursor) or "Eigen::" in cursor.type.get_canonical().spelling


def changes_of(unit, files):
    """{file: [Change]} of those files, given as {path as libclang names it: (name, source)}."""
    finders = {path: Finder(name, source) for path, (name, source) in files.items()}

    def visit(cursor):
        for child in cursor.get_children():
            place = child.location.file
            finder = finders.get(str(Path(place.name).resolve())) if place is not None else None
            if finder is None:
                continue
            if child.kind in (CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC):
                visit(child)
            else:
                finder.look_at(child, False)

    visit(unit.cursor)
    out = {}
    for finder in finders.values():
        seen = {}
        for change in finder.changes:  # a declaration may be met twice, as a friend and by itself
            seen.setdefault((change.mutants, change.edits), change)
        out[finder.file] = list(seen.values())  # what is inside another comes after it: see rewritten
    return out


def parse(path, arguments, text=None):
    """A source, of which the text may be given, as libclang sees it."""
    unsaved = [(str(path), text)] if text is not None else None
    return Index.create().parse(str(path), args=list(arguments), unsaved_files=unsaved)


def rewritten(source, changes, numbers):
    """The source with all changes, numbers(mutant) being what chooses one, outer changes first. A change of which a mutant has no number
    (None) is left out of it."""
    begins, ends, swaps = [], [], []
    for change in changes:
        ids = [numbers(mutant) for mutant in change.mutants]
        if None in ids:
            continue
        for edit in change.edits:
            if isinstance(edit, Swap):
                swaps.append(edit)
                continue
            size, order = edit.end - edit.begin, len(begins)
            begins.append((edit.begin, 1, -size, order, edit.begin, edit.before.format(*ids)))
            ends.append((edit.end, 0, size, -order, edit.end, edit.after.format(*ids)))
    pieces = sorted([*begins, *ends, *((swap.begin, 2, 0, 0, swap.end, swap.text) for swap in swaps)])
    out, at = [], 0
    for begin, _, _, _, end, text in pieces:
        out += [source[at:begin], text]
        at = end
    return "".join([*out, source[at:]])
