# SPDX-License-Identifier: MIT
"""
Marks and regions on the stream rtl.default, by what <rtl/region.h> calls in librtl. As with <rtl/stub.h>, librtl is
used where the program has it already, and loaded only where the user's environment asks for rtl.
"""

import contextlib
import ctypes
import functools
import os
import struct
import threading

_SIGNAL, _REGION_BEGIN, _REGION_END = 16, 8, 9  # <rtl/types.h>
_UINT, _FLOAT = 1, 3  # RTL_KIND_UINT, RTL_KIND_FLOAT
_TEXT_MOST = 1024


class _Span(ctypes.Structure):
    """struct rtl_span, <rtl/span.h>"""
    _fields_ = [("struct_size", ctypes.c_uint32), ("begin_type", ctypes.c_uint16), ("end_type", ctypes.c_uint16),
                ("flags", ctypes.c_uint32), ("scope", ctypes.c_uint32), ("stream", ctypes.c_void_p),
                ("uid", ctypes.c_uint64), ("parent_uid", ctypes.c_uint64), ("instance", ctypes.c_uint64),
                ("correlation", ctypes.c_uint64), ("name", ctypes.c_uint64)]


class _Library:
    """librtl's functions, looked for once."""

    def __init__(self):
        self.lock, self.looked, self.librtl = threading.Lock(), False, None

    def get(self):
        if not self.looked:
            with self.lock:
                if not self.looked:
                    self.librtl = self._open()
                    self.looked = True
        return self.librtl

    @staticmethod
    def _open():
        asked = os.environ.get("RTL_COLLECTOR") or os.environ.get("RTL_SUBSCRIBERS")
        for mode in (os.RTLD_NOLOAD | os.RTLD_LAZY, os.RTLD_NOW if asked else None):
            if mode is None:
                return None
            try:
                librtl = ctypes.CDLL("librtl.so.0", mode=mode)
                break
            except OSError:
                librtl = None
        if librtl is None:
            return None
        arguments = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint64]
        for name, before, after in (("rtl_default_mark", [], arguments),
                                    ("rtl_default_begin", [ctypes.POINTER(_Span)], arguments),
                                    ("rtl_default_end", [ctypes.POINTER(_Span)], [ctypes.c_uint32, ctypes.c_uint64])):
            function = getattr(librtl, name)
            function.argtypes, function.restype = before + after, None
        librtl.rtl_default_stream.restype = ctypes.c_void_p
        librtl.rtl_default_stream()  # registered: then `wanted` is the stream's own
        return librtl


_library = _Library()


def _value(number):
    """Kind and bits of a number, as rtl_mark_u64 and rtl_mark_f64 give them."""
    if number is None:
        return 0, 0
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise TypeError(f"a mark's value is an int or a float, not {type(number).__name__}")
    if isinstance(number, int) and 0 <= number < 2**64:
        return _UINT, number
    return _FLOAT, struct.unpack("<Q", struct.pack("<d", number))[0]


def _wanted(librtl, *types):
    wanted = ctypes.POINTER(ctypes.c_uint8).in_dll(librtl, "rtl_default_wanted")
    return any(wanted[kind] for kind in types)


def _text(name):
    return name.encode("utf-8", "replace").replace(b"\0", b" ")[:_TEXT_MOST]


def enabled():
    """Whether marks and regions of this program reach anybody now."""
    librtl = _library.get()
    return bool(librtl) and _wanted(librtl, _SIGNAL, _REGION_BEGIN, _REGION_END)


def mark(name, value=None):
    """Something happened: a mark in the trace, with a number or without."""
    librtl = _library.get()
    if librtl and _wanted(librtl, _SIGNAL):
        librtl.rtl_default_mark(None, _text(name), *_value(value))


class region(contextlib.ContextDecorator):  # pylint: disable=invalid-name
    """
    A region, as a block or as a function: from its begin to its end on this thread. What is called in it belongs to
    it in the trace.

        with rtl.region("epoch", 7): ...

        @rtl.region("load")
        def load(): ...

    As a decorator it may run on several threads, and within itself. Not for generators and coroutines, whose parts
    run at different times.
    """

    def __init__(self, name, value=None):
        self.name, self.value = name, value
        self.local = threading.local()

    def __enter__(self):
        librtl = _library.get()
        spans = self.local.__dict__.setdefault("spans", [])
        if librtl and _wanted(librtl, _REGION_BEGIN, _REGION_END):
            span = _Span()
            librtl.rtl_default_begin(ctypes.byref(span), None, _text(self.name), *_value(self.value))
            spans.append(span)
        else:
            spans.append(None)
        return self

    def __exit__(self, *exception):
        span = self.local.spans.pop()
        if span is not None and span.stream:
            _library.get().rtl_default_end(ctypes.byref(span), 0, 0)
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return wrapper
