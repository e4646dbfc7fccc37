"""Questions of one's own, kept under a name in the browser's own storage: nothing of them reaches the server until one is opened.

As a file they are JSON, name -> link. A file is read in the browser and refused there where it is no such thing; a link is
read like any other when it is opened.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from roofline import link
from roofline.dashboard import saved_words as words
from roofline.dashboard.state import open_link, start_over
from roofline.language import tr

MOST_NAMES, MOST_NAME_CHARACTERS, MOST_FILE_BYTES = 50, 60, 200_000
_KEY = "saved"

_HTML = """
<form><label for="name"></label><div class="row"><input id="name" autocomplete="off"><button type="submit"></button></div></form>
<ul></ul>
<div class="row"><button type="button" class="export"></button><label class="file" for="file"></label></div>
<input type="file" id="file" class="hidden" accept=".json,application/json">
<p class="status" role="status" aria-live="polite"></p>
"""
_CSS = """
:host, * { font-family: var(--st-font); color: var(--st-text-color); font-size: 14px; box-sizing: border-box; }
.row, li { display: flex; gap: 6px; align-items: center; }
#name { flex: 1 1 auto; min-width: 0; }
#name, button, .file { background: transparent; border: 1px solid var(--st-border-color); border-radius: 8px; padding: 4px 10px; }
button, .file { cursor: pointer; white-space: nowrap; }
button:hover, button:focus-visible, .file:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible, #name:focus-visible, .hidden:focus-visible + .status { outline: 2px solid var(--st-primary-color); }
.row:focus-within .file { border-color: var(--st-primary-color); }
label[for=name] { display: block; margin-bottom: 4px; }
ul { list-style: none; margin: 8px 0; padding: 0; max-height: 15rem; overflow-y: auto; }
li { margin: 4px 0; }
li .open { flex: 1 1 auto; text-align: left; overflow: hidden; text-overflow: ellipsis; }
.hidden { position: absolute; width: 1px; height: 1px; opacity: 0; }
.status { min-height: 1.4em; margin: 6px 0 0; }
"""
_JS = """
const STORE = 'roofline.saved';
export default function ({ data, parentElement, setTriggerValue }) {
  const find = (selector) => parentElement.querySelector(selector);
  const { words, most } = data;
  const say = (text, values = {}) => {
    find('.status').textContent = Object.entries(values).reduce((t, [k, v]) => t.replace(`{${k}}`, v), text);
  };
  const isEntry = ([name, link]) => typeof link === 'string' && link.startsWith('?') && link.length <= most.link
    && name.length > 0 && name.length <= most.name;
  const checked = (text) => {
    let found = null;
    try { found = JSON.parse(text); } catch { return null; }
    if (found === null || typeof found !== 'object' || Array.isArray(found)) return null;
    const entries = Object.entries(found);
    return entries.length && entries.every(isEntry) ? found : null;
  };
  const read = () => {
    try { return checked(localStorage.getItem(STORE) ?? '') ?? {}; } catch { return {}; }
  };
  const write = (all) => {
    if (Object.keys(all).length > most.names) { say(words.full, { most: most.names }); return false; }
    try { localStorage.setItem(STORE, JSON.stringify(all)); } catch { say(words.no_store); return false; }
    list();
    return true;
  };
  const button = (name, text, label, press) => {
    const found = document.createElement('button');
    Object.assign(found, { type: 'button', className: name, textContent: text, onclick: press });
    found.setAttribute('aria-label', label);
    return found;
  };
  const row = ([name, link]) => {
    const found = document.createElement('li');
    found.append(
      button('open', name, words.open.replace('{name}', name), () => setTriggerValue('open', link)),
      button('delete', '✕', words.remove.replace('{name}', name), () => {
        const { [name]: gone, ...rest } = read();
        if (write(rest)) say(words.removed, { name });
      }),
    );
    return found;
  };
  const list = () => {
    const entries = Object.entries(read());
    find('ul').replaceChildren(...entries.map(row));
    find('.export').disabled = entries.length === 0;
  };
  const keep = (event) => {
    event.preventDefault();
    const name = find('#name').value.trim();
    if (!name || name.length > most.name) { say(words.name_wrong, { most: most.name }); return; }
    if (location.search.length > most.link) { say(words.too_long); return; }
    if (!write({ ...read(), [name]: location.search || data.default_link })) return;
    find('#name').value = '';
    say(words.kept, { name });
  };
  const save = () => {
    const file = new Blob([JSON.stringify(read(), null, 2)], { type: 'application/json' });
    const anchor = document.createElement('a');
    anchor.href = URL.createObjectURL(file);
    anchor.download = 'roofline-questions.json';
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
  };
  const load = async (event) => {
    const file = event.target.files[0];
    event.target.value = '';
    if (!file) return;
    const found = file.size <= most.file ? checked(await file.text()) : null;
    if (found === null) { say(words.bad_file); return; }
    if (write({ ...read(), ...found })) say(words.loaded, { n: Object.keys(found).length });
  };
  find('label[for=name]').textContent = words.label;
  find('form button').textContent = words.save;
  find('.export').textContent = words.export;
  find('.file').textContent = words.import;
  find('#file').setAttribute('aria-label', words.import);
  find('#name').maxLength = most.name;
  find('form').onsubmit = keep;
  find('.export').onclick = save;
  find('#file').onchange = load;
  list();
}
"""
_component = st.components.v2.component("roofline_saved", html=_HTML, css=_CSS, js=_JS)


def draw() -> None:
    """Start over, and the list behind a button; it is built only while it is open."""
    with st.container(horizontal=True, key="own_questions"):
        st.button(tr(words.RESET), key="start_over", help=tr(words.RESET_HELP), on_click=start_over)
        popover = st.popover(tr(words.SAVED), key="saved_open", on_change="rerun")
        if popover.open:
            with popover:
                _component(key=_KEY, data=saved_data(), on_open_change=_open)


def _open() -> None:
    """Let the controls show the question that was pressed; what cannot be read of it is told as of any link."""
    text = st.session_state[_KEY].get("open")
    if isinstance(text, str):
        open_link(text)


def saved_data() -> dict[str, Any]:
    """Words and bounds for the browser."""
    return {
        "words": {name: tr(text) for name, text in words.SAVED_WORDS.items()},
        "most": {
            "names": MOST_NAMES,
            "name": MOST_NAME_CHARACTERS,
            "file": MOST_FILE_BYTES,
            "link": link.MAX_CHARACTERS,
        },
        "default_link": link.to_query(link.DEFAULT),
    }
