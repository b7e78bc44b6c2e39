"""The kernels' texts compiled for a card, without one, where NVIDIA's compiler is installed as a wheel."""

import ctypes
from pathlib import Path

import pytest

from fewer.kernels.device import OPTIONS, text_of

nvrtc = pytest.importorskip("nvidia.cuda_nvrtc", reason="pip install nvidia-cuda-nvrtc-cu12")
LIBRARIES = sorted(path for place in nvrtc.__path__ for path in Path(place, "lib").glob("libnvrtc.so*"))
TEXTS = [("neighbors", {"CANDIDATES": 0}), ("exact", {"CAPACITY": 8}), ("relief", {"MIXED": 1, "CAPACITY": 12})]


def compiled(text, defines):
    """Compile a text for an H100 or H200; return whether that went well, and what the compiler says."""
    library, program, size = ctypes.CDLL(str(LIBRARIES[0])), ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None) == 0
    words = [*OPTIONS, "--gpu-architecture=compute_90", *(f"-D{word}={value}" for word, value in defines.items())]
    options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    code = library.nvrtcCompileProgram(program, len(words), options)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return code == 0, log.value.decode()


@pytest.mark.skipif(not LIBRARIES, reason="no libnvrtc in the wheel")
@pytest.mark.parametrize(("name", "defines"), TEXTS, ids=[name for name, _ in TEXTS])
def test_a_text_compiles_for_a_card_without_a_warning(name, defines):
    done, log = compiled(text_of(name), defines)
    assert done, log
    assert not log.strip("\0 \n")


@pytest.mark.skipif(not LIBRARIES, reason="no libnvrtc in the wheel")
def test_a_text_that_is_no_cuda_does_not_compile():
    done, log = compiled(text_of("exact").replace("__syncthreads()", "__sync_all()"), {})
    assert not done
    assert "__sync_all" in log
