"""Finding the libraries of CUDA that pip installs: names and order; loading them needs the packages."""

from onax._ground.cuda_libraries import find_cuda_libraries, load_cuda_libraries


def test_libraries_are_found_in_the_order_of_loading(tmp_path):
    for name in ("cu13/lib/libcublas.so.13", "cu13/lib/libcublasLt.so.13", "cu13/lib/libcudart.so.13"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("cudnn/lib/libcudnn.so.9", "cudnn/lib/libcudnn_ops.so.9", "cudnn/lib/libcudnn.so", "cudnn/README"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = find_cuda_libraries([str(tmp_path), str(tmp_path / "absent")])
    assert [path.rsplit("/", 1)[1] for path in found] == [
        "libcudart.so.13", "libcublasLt.so.13", "libcublas.so.13", "libcudnn.so.9",
    ]  # fmt: skip
    assert find_cuda_libraries([]) == []


def test_loading_tells_what_was_refused(tmp_path, monkeypatch):
    (tmp_path / "nvidia" / "cu13" / "lib").mkdir(parents=True)
    (tmp_path / "nvidia" / "cu13" / "lib" / "libcudart.so.13").write_text("no library")
    monkeypatch.syspath_prepend(str(tmp_path))
    load_cuda_libraries.cache_clear()
    try:
        (text,) = load_cuda_libraries()
        assert "libcudart.so.13" in text
    finally:
        load_cuda_libraries.cache_clear()
