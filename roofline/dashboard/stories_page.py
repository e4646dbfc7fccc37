"""The Stories page: one question, one slider, one verdict; each opens in the Calculator."""

from __future__ import annotations

import streamlit as st

from roofline import link
from roofline.answers.stories import STORIES, Place, Story, Told, read_story
from roofline.dashboard import state
from roofline.dashboard.charts import chart
from roofline.dashboard.shell import Frame
from roofline.dashboard.story_words import NO_STORY, OWN_SCENARIO, WORDS, StoryWords
from roofline.dashboard.text import esc, heading, notice
from roofline.errors import RooflineError
from roofline.figures.curves import throughput_alt, throughput_figure
from roofline.figures.model_curves import experts_alt, experts_figure
from roofline.figures.roofline_plot import roofline_alt, roofline_figure
from roofline.figures.story_plot import story_alt, story_figure
from roofline.figures.theme import Look, Spec
from roofline.language import tr

_STORY, _CHOSEN, _SLIDER = "story", "story_chosen", "story_place"


def draw(frame: Frame) -> None:
    """Draw the story of the link."""
    text = state.page_values().get(_STORY)
    found = read_story(text)
    if found is None and text is not None:
        st.html(notice(tr("Another story is shown"), esc(tr(NO_STORY))))
    story, place = found or (STORIES[0], STORIES[0].start)
    _choice(story)
    try:
        with st.spinner(tr("Working it out…")):
            told = story.tell(place)
    except RooflineError as error:
        st.html(notice(tr("No answer for this"), esc(str(error))))
        return
    words = WORDS[story.id]
    st.html(heading(tr(words.title)) + f'<p class="rf-answer">{esc(words.claim(told))}</p>')
    _slider(story, words, place)
    st.html(f'<p class="rf-answer rf-verdict" aria-live="polite">{esc(words.verdict(told))}</p>')
    _figure(told, words, frame.look)
    _ways_on(frame, story, told)


def _choice(story: Story) -> None:
    """All stories, the one shown among them."""
    st.session_state[_CHOSEN] = story.id
    st.pills(
        tr("Stories"),
        [each.id for each in STORIES],
        format_func=lambda name: tr(WORDS[name].short),
        key=_CHOSEN,
        required=True,
        on_change=_turn,
        wrap=True,
    )


def _turn() -> None:
    state.set_page({_STORY: st.session_state[_CHOSEN]})


def _slider(story: Story, words: StoryWords, place: Place) -> None:
    """The story's one control; its place is in the link."""
    st.session_state[_SLIDER] = place
    st.select_slider(
        tr(words.slider), story.places, key=_SLIDER, format_func=words.place, on_change=_move, args=(story.id,), width="stretch"
    )


def _move(name: str) -> None:
    state.set_page({_STORY: f"{name},{st.session_state[_SLIDER]}"})


def _figure(told: Told, words: StoryWords, look: Look) -> None:
    """The story's figure; where there is none, the verdict has said why."""
    drawn = _drawn(told, words, look)
    if drawn is None:
        return
    spec, alt = drawn
    st.html(heading(tr(words.figure_title), level=3))
    chart(spec, "story_chart", alt)


def _drawn(told: Told, words: StoryWords, look: Look) -> tuple[Spec, str] | None:
    if told.chart is not None and words.chart is not None:
        return story_figure(told.chart, words.chart, look), story_alt(told.chart, words.chart)
    if told.experts is not None:
        batch = int(told.numbers["batch"])
        return experts_figure(told.experts, batch, look), experts_alt(told.experts, batch)
    if told.report is None or told.curve is None:
        return None
    if "prefill" in told.numbers:
        return roofline_figure(told.report, told.curve, look), roofline_alt(told.report)
    return throughput_figure(told.report, told.curve, look), throughput_alt(told.report, told.curve)


def _ways_on(frame: Frame, story: Story, told: Told) -> None:
    """To the Calculator with this question, to the Fleet where there is one, and to the next story."""
    after = STORIES[(STORIES.index(story) + 1) % len(STORIES)]
    with st.container(horizontal=True, key="story_on", vertical_alignment="center"):
        query = link.encode(told.scenario) or {"v": link.VERSION}
        st.page_link(frame.pages["Calculator"], label=tr("Open in the Calculator"), query_params=query, width="content")
        if told.fleet is not None and "Fleet" in frame.pages:
            fleet = link.encode_fleet(told.fleet.asked)
            st.page_link(frame.pages["Fleet"], label=tr("Open in Fleet"), query_params=fleet, width="content")
        st.button(tr("Next: {story}", story=tr(WORDS[after.id].title)), on_click=_next, args=(after.id,))
    st.html(f'<p class="rf-note">{esc(tr(OWN_SCENARIO))}</p>')


def _next(name: str) -> None:
    state.set_page({_STORY: name})
