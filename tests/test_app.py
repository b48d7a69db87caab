"""What the composition root decides: which index, which embedder."""

import os
import socket
import stat

import pytest

from hindbrain.index.writer import IndexWriter


def test_a_service_that_is_down_does_not_cost_the_vectors_it_made(vault, make_app) -> None:
    vault.write("a.md", "zebras graze on the savanna\n")
    first = make_app(vault.root)
    first.sync()
    writer = IndexWriter(first.index_path)
    with writer.transaction():
        writer.set_meta({"embedder": "openai/some-model"})
    writer.close()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    settings = {"embedding_provider": "auto", "embedding_base_url": address, "embedding_model": "some-model"}
    vault.write("b.md", "lions sleep\n")
    app = make_app(vault.root, **settings)
    report = app.sync()
    assert report.indexed == 1
    assert report.pending == 1
    assert app.store.meta("embedder") == "openai/some-model"
    assert app.store.vector_count() == 1


def test_a_rebuilt_index_is_noticed_by_who_has_the_old_one_open(vault, make_app) -> None:
    from hindbrain.search.query import SearchQuery

    vault.write("a.md", "zebras graze on the savanna\n")
    reader = make_app(vault.root, warm=True)
    reader.sync()
    assert reader.search(SearchQuery("zebras")).hits
    vault.write("b.md", "lions sleep in the shade\n")
    make_app(vault.root).rebuild()
    assert [hit.path for hit in reader.search(SearchQuery("lions")).hits][:1] == ["b.md"]


@pytest.mark.skipif(os.name == "nt", reason="modes as POSIX has them")
def test_what_is_kept_beside_a_vault_is_its_owner_s_alone(vault, make_app) -> None:
    vault.write("a.md", "zebras graze on the savanna\n")
    first = make_app(vault.root)
    assert not first.state.exists()  # that would say that its owner has opened the vault
    first.sync()
    for folder in (first.state, first.state.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        folder.chmod(0o755)  # as older versions made it; the outer one is named by its owner
    second = make_app(vault.root)
    assert stat.S_IMODE(second.state.stat().st_mode) == 0o700
    assert stat.S_IMODE(second.state.parent.stat().st_mode) == 0o755
