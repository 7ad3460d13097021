"""What a text that goes on would say if its references meant what they mean so far."""

from __future__ import annotations

from collections.abc import Iterator

from language_server.partial_model.draft import Draft
from language_server.partial_model.linking import link
from language_server.partial_model.model import Node, ObjectId, PartialModel, Reference
from language_server.partial_model.refinement import mentioned
from language_server.partial_model.scopes import Mention


def supposed(model: PartialModel) -> PartialModel:
    """The model with its references linked as if the text ended here.

    Later text may change what they mean, so nothing that is concluded from it is certain. What
    nothing in sight is called is to be declared, as if the reference were by plain name.
    """
    scopes = model.scopes
    if scopes is None or scopes.top < 0:
        return model
    draft = Draft(model)
    draft.scopes = scopes.standing_as(under_construction(model))
    link(draft)
    for mention in _unknown(draft):
        cls = scopes.things[mention.source].cls
        source = draft.scopes.node(mention.source)
        feature = draft.schema.feature_map.get((cls, mention.feature))
        info = draft.schema.rules.get(mention.target)
        if source is None or feature is None or feature.attribute or info is None:
            continue
        span = mention.start, mention.end
        reference = Reference(source, feature.symbol, info.name, mention.name, *span)
        draft.refer_from_outside(mention.name, info.name)
        draft.link(feature, source, mentioned(draft, info, reference))
    return draft.commit()


def is_foreign(record: Node) -> bool:
    """Whether an object of a linked model stands in another file."""
    return record.role == "mentioned" and not record.open


def said_since(model: PartialModel, before: PartialModel) -> dict[ObjectId, list[tuple[str, str]]]:
    """The references that are not linked before the text ends, of what follows an earlier model.

    Returns:
        For each object the symbols of its features and the names that stand there.
    """
    found: dict[ObjectId, list[tuple[str, str]]] = {}
    scopes = model.scopes
    if scopes is None or before.scopes is None or scopes.said == before.scopes.said:
        return found
    nodes = under_construction(model)
    for number in range(before.scopes.said, scopes.said):
        mention = scopes.mention(number)
        cls = scopes.things[mention.source].cls
        feature = model.schema.feature_map.get((cls, mention.feature))
        node = nodes.get(mention.source, scopes.node(mention.source))
        late = not scopes.rules.way(cls, mention.feature).plain
        if late and node is not None and feature is not None:
            found.setdefault(node, []).append((feature.symbol, mention.name))
    return found


def under_construction(model: PartialModel) -> dict[int, ObjectId]:
    """Which objects of the model the open objects of the text are, as far as that is known."""
    found: dict[int, ObjectId] = {}
    scopes, frame = model.scopes, model.frame
    thing = scopes.top if scopes is not None else -1
    while scopes is not None and frame is not None and thing >= 0:
        if frame.node is not None:
            found[thing] = frame.node
        frame, thing = frame.parent, scopes.things[thing].parent
    return found


def _unknown(draft: Draft) -> Iterator[Mention]:
    """The references to names that nothing in sight has."""
    assert draft.scopes is not None and draft.linked is not None
    for number, outcome in sorted(draft.linked.outcomes.items()):
        if outcome.entry is None and (outcome.failure is None or not outcome.failure.found):
            mention = draft.scopes.mention(number)
            cls = draft.scopes.things[mention.source].cls
            if not draft.scopes.rules.way(cls, mention.feature).plain:
                yield mention
