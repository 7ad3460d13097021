"""The prompt: what is told of a language, which examples, and how many."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.decoding import Prompt, RandomModel
from language_server.decoding.prompt import build_prompt, nearest
from language_server.languages import Example, Language, LanguageError, load_language

SHOTS = (
    Example("A door that opens and closes", "thing door"),
    Example("A traffic light with three colours", "thing light"),
    Example("A coffee machine that grinds and brews", "thing coffee"),
    Example("A lift that moves between floors", "thing lift"),
    Example("A lamp with a switch", "thing lamp"),
)
GRAMMAR = """\
// Toys: a toy is one thing.

Thing: 'thing' name=ID; /* no more
than that */
Comment: /#[^\\n]*/;  // to the end of the line
"""
TOLD_GRAMMAR = """\
The grammar, in textX's notation:
Thing: 'thing' name=ID;
Comment: /#[^\\n]*/;"""
USUAL = """\
You write models in the language toy.
Toys: a toy is one thing.
Answer with the model alone: no explanation, no code fence."""


def toy(folder: Path, section: str = "") -> Language:
    """A language with five examples, and a section of its manifest."""
    (folder / "toy.tx").write_text(GRAMMAR)
    (folder / "toy.examples").mkdir(exist_ok=True)
    for place, shot in enumerate(SHOTS):
        (folder / "toy.examples" / f"{place}.toy").write_text(
            f"# {shot.description}\n{shot.text}\n"
        )
    (folder / "langwright.toml").write_text(
        f'[[language]]\nname = "toy"\ngrammar = "toy.tx"\n[language.prompt]\n{section}\n'
    )
    return load_language("toy", folder)


def system(prompt: Prompt) -> str:
    assert prompt.messages[0].role == "system"
    return prompt.messages[0].content


def test_the_nearest_examples_come_first() -> None:
    assert nearest(SHOTS, "machine for coffee", 2)[0].text == "thing coffee"
    assert nearest(SHOTS, "a lift with floors", 1)[0].text == "thing lift"
    assert nearest(SHOTS, "zzz", 2) == list(SHOTS[:2])
    assert nearest((), "anything", 3) == []


def test_a_prompt_ends_with_the_description_and_the_nearest_example_before_it(
    tmp_path: Path,
) -> None:
    prompt = build_prompt(RandomModel(), toy(tmp_path), "coffee, please", "cof")
    roles = [turn.role for turn in prompt.messages]
    assert roles == ["system", *["user", "assistant"] * 4, "user"]
    assert system(prompt) == USUAL
    assert prompt.messages[-1].content == "coffee, please"
    assert prompt.messages[-2].content == "thing coffee"
    assert prompt.messages[-3].content == "A coffee machine that grinds and brews"
    assert prompt.answer == "cof"


@pytest.mark.parametrize("section", ["", "grammar = true"])
def test_examples_are_left_out_to_keep_the_budget_the_farthest_first(
    tmp_path: Path, section: str
) -> None:
    """The grammar, where it is told, has a budget of its own and takes no example's place."""
    model = RandomModel()
    first, *_, one, two, three, four, last = build_prompt(model, toy(tmp_path), "coffee").messages
    budget = model.count_tokens(Prompt((first, one, two, three, four, last))) + 1
    language = toy(tmp_path, section)
    prompt = build_prompt(model, language, "coffee", max_tokens=budget)
    assert prompt.messages[1:] == (one, two, three, four, last)
    assert prompt.messages[-2].content == "thing coffee"
    assert len(build_prompt(model, language, "coffee", max_tokens=1).messages) == 2


def test_the_grammar_is_told_without_its_comments(tmp_path: Path) -> None:
    first, last = USUAL.rsplit("\n", 1)
    wanted = f"{first}\n{TOLD_GRAMMAR}\n{last}"
    language = toy(tmp_path, "grammar = true")
    assert system(build_prompt(RandomModel(), language, "")) == wanted
    assert system(build_prompt(RandomModel(), language.prompted(grammar=False), "")) == USUAL
    asked = toy(tmp_path).prompted(grammar=True)
    assert system(build_prompt(RandomModel(), asked, "")) == wanted


def test_rules_are_left_out_to_keep_the_budget_the_last_first(tmp_path: Path) -> None:
    language = toy(tmp_path, "system = '{grammar}'")
    model = RandomModel()
    assert system(build_prompt(model, language, "")) == TOLD_GRAMMAR
    fitting = len(TOLD_GRAMMAR) // 4
    assert system(build_prompt(model, language, "", grammar_tokens=fitting)) == TOLD_GRAMMAR
    short = build_prompt(model, load_language("minizinc").prompted(grammar=True), "")
    rules = system(short).partition("notation:\n")[2]
    assert rules.startswith("Model")
    none = build_prompt(model, language, "", grammar_tokens=3)
    assert none.messages[0].role == "user"


def test_the_name_of_a_language_can_be_hidden(tmp_path: Path) -> None:
    hidden = toy(tmp_path, "hide_language = true")
    prompt = build_prompt(RandomModel(), hidden, "")
    assert system(prompt) == USUAL.replace("language toy", "language L").replace("a toy", "a L")
    assert prompt.messages[-1].content == "Write a model."
    shown = build_prompt(RandomModel(), hidden.prompted(hides_language=False), "")
    assert system(shown) == USUAL
    assert shown.messages[-1].content == "Write a toy model."


def test_a_hidden_name_that_is_a_word_of_the_language_stays_a_word_of_it() -> None:
    hidden = load_language("statechart").prompted(hides_language=True)
    assert "the language L." in system(build_prompt(RandomModel(), hidden, ""))
    assert hidden.told["summary"] == load_language("statechart").told["summary"]


def test_a_template_says_what_stands_where(tmp_path: Path) -> None:
    section = """
system = '''
{summary}
{facts}
Sets are written {{a}}.

{examples}'''
user = "In {language}: {task}"
"""
    prompt = build_prompt(RandomModel(), toy(tmp_path, section), "coffee", max_tokens=36)
    assert [turn.role for turn in prompt.messages] == ["system", "user"]
    assert system(prompt) == (
        "Toys: a toy is one thing.\nSets are written {a}.\n\n"
        "In toy: A coffee machine that grinds and brews\nthing coffee"
    )
    assert prompt.messages[-1].content == "In toy: coffee"


def test_given_facts_and_the_grammar_are_told_though_a_template_has_no_place_for_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "facts.problem").write_text("Thing(lamp).\n")
    language = toy(tmp_path, "system = 'Be brief.'\ngrammar = true")
    prompt = build_prompt(RandomModel(), language.with_given(tmp_path / "facts.problem"), "")
    assert system(prompt) == f"Be brief.\nThese facts hold: Thing(lamp).\n{TOLD_GRAMMAR}"


@pytest.mark.parametrize(
    ("section", "line", "message"),
    [
        ('system = "{langage}"', 5, r"'\{langage\}' is no placeholder of 'system'"),
        ('user = "{task}"\nsystem = "{task}"', 5, r"'\{task\}' is no placeholder of 'system'"),
        ("user = '{task:>9}'", 5, r"'\{task:>9\}' is no placeholder of 'user'"),
        ("user = '{task!r}'", 5, r"'\{task!r\}' is no placeholder of 'user'"),
        ("user = '{}'", 5, r"'\{\}' is no placeholder of 'user'"),
        ("grammar = true\nuser = 'a } {task}'", 6, r"'a \} \{task\}' is no placeholder"),
        ("user = 'Write!'", 5, "'user' does not say what to write"),
        ("user = '{{task}}'", 5, "'user' does not say what to write"),
        ("grammar = 'yes'", 5, "'grammar' is true or false"),
        ("system = 3", 5, "'system' is a text"),
        ("aliases = 3", 5, "'aliases' is a table"),
        ("aliases = { and = 3 }", 5, "'aliases' gives words the texts of the grammar"),
        ("aliases = { '+' = 'thing' }", 5, "'aliases' gives words the texts of the grammar"),
        ("sistem = 'x'", 5, r"\[language.prompt\] has no 'sistem'"),
    ],
)
def test_mistakes_in_a_template(tmp_path: Path, section: str, line: int, message: str) -> None:
    with pytest.raises(LanguageError, match=message) as caught:
        toy(tmp_path, section)
    assert (caught.value.path, caught.value.line) == (tmp_path / "langwright.toml", line)


@pytest.mark.parametrize(
    ("aliases", "message"),
    [
        ("{ object = '&&' }", "the grammar has no text '&&'"),
        ("{ thing = 'thing' }", "'thing' cannot stand for 'thing': it is a word of the grammar"),
    ],
)
def test_aliases_stand_for_texts_of_the_grammar(tmp_path: Path, aliases: str, message: str) -> None:
    with pytest.raises(LanguageError, match=message):
        toy(tmp_path, f"aliases = {aliases}")
