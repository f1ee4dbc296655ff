"""What Windows does in another way than the others: locks, processes, and how much memory one has held."""

import sys
from typing import IO

if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes import wintypes

    FAR = 1 << 30
    """Where the byte lies that stands for a whole file: beyond all, since locked bytes cannot be read."""

    QUERY, STILL_ACTIVE = 0x1000, 259
    """Right to ask for a process's state, and the exit code of one that has not ended."""

    class _MemoryCounters(ctypes.Structure):
        _fields_ = (
            ("cb", wintypes.DWORD),
            ("PageFaultCount", wintypes.DWORD),
            ("PeakWorkingSetSize", ctypes.c_size_t),
            *((f"field_{k}", ctypes.c_size_t) for k in range(7)),
        )

    def wait_for_lock(file: IO[bytes]) -> None:
        """Lock a file for this process alone; closing it lets go, and so does being killed."""
        file.seek(FAR)
        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            except OSError:
                # It gives up after ten seconds.
                continue
            return

    def is_running(process: int) -> bool:
        """Whether there is a process of this number."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = wintypes.HANDLE
        handle = kernel.OpenProcess(QUERY, 0, process)
        if not handle:
            # Denied: it is there, and somebody else's.
            return ctypes.get_last_error() == 5
        code = wintypes.DWORD()
        kernel.GetExitCodeProcess(wintypes.HANDLE(handle), ctypes.byref(code))
        kernel.CloseHandle(wintypes.HANDLE(handle))
        return code.value == STILL_ACTIVE

    def peak_memory() -> float:
        """Give the most memory that this process has held, in MiB."""
        counters = _MemoryCounters(cb=ctypes.sizeof(_MemoryCounters))
        kernel = ctypes.WinDLL("kernel32")
        kernel.GetCurrentProcess.restype = wintypes.HANDLE
        own = wintypes.HANDLE(kernel.GetCurrentProcess())
        kernel.K32GetProcessMemoryInfo(own, ctypes.byref(counters), counters.cb)
        return float(counters.PeakWorkingSetSize / 2**20)

else:
    import fcntl
    import os
    import resource

    def wait_for_lock(file: IO[bytes]) -> None:
        """Lock a file for this process alone; closing it lets go, and so does being killed."""
        fcntl.flock(file, fcntl.LOCK_EX)

    def is_running(process: int) -> bool:
        """Whether there is a process of this number."""
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            # It is there, and somebody else's.
            return True
        return True

    def peak_memory() -> float:
        """Give the most memory that this process has held, in MiB."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # macOS counts bytes, everyone else KiB.
        return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
