# SPDX-License-Identifier: MIT
"""The language of tables of functions (FILE.def): what is written here, streams/call/tables.h and
streams/call/pack.h expand. streams/hip/generate.py writes HIP's, streams/hsa/generate_calls.py that
of HSA."""

LANGUAGE = """ *	CALL_FUNCTION(id, name, symbol, category, C type of the result, kind of the result, its type,
 *		(what the API notes of it),
 *		(parameters), (their names),
 *		arguments)
 *	CALL_PROCEDURE: the same without a result
 *
 * Kinds of results: e an enum, i a number, a an address, s a struct, n none.
 *
 * C types are the machine's: pointers to anything are void *. An argument is what is recorded of a
 * parameter:
 *
 *	CALL_ADDRESS, CALL_UNSIGNED, CALL_SIGNED, CALL_FLOAT, CALL_BOOL(expression, type, bytes)
 *	CALL_HANDLE(parameter, type)		a struct with nothing but a 64-bit handle
 *	CALL_TEXT(expression, type, bytes)	a terminated string
 *	CALL_ENUM(expression, type)
 *	CALL_OUTPUT(expression, type, kind, bytes)	where the call leaves a single value: UINT,
 *						INT, ADDRESS, FLOAT, BOOL, TEXT
 *	CALL_OUTPUT_ENUM(expression, type, type of the value)
 *
 * CALL_ENUMERATION(type, "value=name;...") has the names of an enum.
"""


def argument(macro, name, shown, *more):
    """One that is recorded: its type as a text, but for an enum's."""
    shown = shown if macro == "CALL_ENUM" else '"%s"' % shown
    return "%s(%s)" % (macro, ", ".join([name, shown] + [str(m) for m in more]))


def function(identifier, name, symbol, category, result, notes, parameters, arguments):
    """result: C type, kind, type; parameters: (C type, name); arguments: of argument()."""
    ctype, kind, shown = result
    listed = ", ".join((c if c.endswith("*") else c + " ") + n for c, n in parameters) or "void"
    return "%s(%s, \"%s\", \"%s\", \"%s\", %s, %s, \"%s\", (%s),\n\t(%s), (%s),\n\t%s)" % (
        "CALL_PROCEDURE" if kind == "n" else "CALL_FUNCTION", identifier, name, symbol, category,
        ctype, kind, shown, ", ".join(str(n) for n in notes), listed,
        ", ".join(n for _, n in parameters), "\n\t".join(arguments))


def enumeration(name, values):
    """values: (number, name), ascending."""
    lines = ["\t\"%d=%s\"" % value for value in values]
    return "CALL_ENUMERATION(%s,\n%s\n\t)" % (name, "\n".join(
        line if i + 1 == len(lines) else line[:-1] + ";\"" for i, line in enumerate(lines)))
