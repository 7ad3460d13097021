"""Refinement of a partial model by parse events.

An object enters the model when its identity (name or key) is read, or at its first other need, so
that a declaration takes over the object that earlier references to its name have brought in, and a
further mention of a keyed object adds to the one that is there. References are linked as textX
does without scope provider: to the one object of a fitting class with that name anywhere;
references with scope rules of their own are linked when the text ends (`linking`).
"""

from __future__ import annotations

from typing import Any

from language_server.partial_model.draft import Draft
from language_server.partial_model.linking import link
from language_server.partial_model.model import (
    NOTHING,
    Cell,
    Frame,
    Node,
    ObjectId,
    Reference,
)
from language_server.partial_model.schema import ClassInfo, FeatureInfo, Schema
from language_server.partial_model.scopes import Scopes
from language_server.syntax.events import Assign, Close, Event, Open, Refer


def refine(draft: Draft, event: Event) -> None:
    """Add to the draft what one parse event says; the text ends with its root object."""
    within = draft.frame is not None
    extend(draft, event)
    if within and draft.frame is None:
        end(draft)


def extend(draft: Draft, event: Event) -> None:
    """Add to the draft what one parse event says of the objects under construction."""
    if draft.scopes is not None:
        _read_scopes(draft, draft.scopes, event)
    if isinstance(event, Open):
        _open(draft, event)
    elif isinstance(event, Close):
        _close(draft, event)
    else:
        _fill(draft, event)


def finish(draft: Draft) -> None:
    """The text ends here: all objects under construction end with it."""
    while draft.frame is not None:
        if draft.scopes is not None:
            _read_scopes(draft, draft.scopes, Close(-1))
        frame = present(draft, draft.frame)
        if frame.node is not None:
            _seal(draft, frame.node, -1)
        draft.frame = frame.parent
    end(draft)


def end(draft: Draft) -> None:
    """The text has ended, and so have all its objects."""
    draft.closed = True
    draft.touched.append(("end",))
    link(draft)


def _read_scopes(draft: Draft, scopes: Scopes, event: Event) -> None:
    """The scopes with the event; an object that ends is known to be one of the model."""
    if isinstance(event, Close) and draft.frame is not None:
        frame = draft.frame = present(draft, draft.frame)
        if frame.node is not None:
            scopes = scopes.standing(frame.node)
    draft.scopes = scopes.then(event)


def _open(draft: Draft, event: Open) -> None:
    parent = draft.frame
    feature = None
    if parent is not None:
        parent = draft.frame = present(draft, parent)
        if event.feature is not None:
            feature = draft.schema.feature_map.get((parent.rule, event.feature))
    info = draft.schema.rules.get(event.cls)
    frame = Frame(parent, None, event.cls, info, feature, event.start)
    draft.frame = frame
    if info is not None and not info.named and not info.key:
        draft.frame = present(draft, frame)


def _close(draft: Draft, event: Close) -> None:
    if draft.frame is None:
        return
    frame = present(draft, draft.frame)
    if frame.node is not None:
        _seal(draft, frame.node, event.end)
    draft.frame = frame.parent


def _fill(draft: Draft, event: Assign | Refer) -> None:
    frame = draft.frame
    if frame is None or frame.info is None:
        return
    feature = draft.schema.feature_map.get((frame.rule, event.feature))
    info = frame.info
    if isinstance(event, Assign):
        if event.feature in info.key and (frame.node is None or not _is_keyed(draft, frame)):
            _identify_by_key(draft, frame, event)
            return
        if event.feature == "name" and not info.key:
            frame = draft.frame = _identify_by_name(draft, frame, event)
            if feature is not None and frame.node is not None:
                _state(draft, feature, frame.node, event)
            return
    if feature is None or is_linked_later(draft, frame.rule, event):
        return
    if frame.node is None:
        if info.key:
            draft.frame = frame._replace(held=(*frame.held, event))
            return
        frame = draft.frame = present(draft, frame)
    assert frame.node is not None
    _state(draft, feature, frame.node, event)


def is_linked_later(draft: Draft, cls: str, event: Assign | Refer) -> bool:
    """Whether it is known only when the text has ended what a reference means."""
    if draft.scopes is None or not isinstance(event, Refer):
        return False
    return not draft.scopes.rules.way(cls, event.feature).plain


def _is_keyed(draft: Draft, frame: Frame) -> bool:
    return frame.node is not None and draft.nodes[frame.node].name is not None


def _state(draft: Draft, feature: FeatureInfo, node: ObjectId, event: Assign | Refer) -> None:
    """One primitive value or reference of an object that is in the model."""
    if isinstance(event, Refer):
        if feature.attribute:
            _set_attribute(draft, feature, node, event.name, event)
        else:
            _refer(draft, feature, node, event.target, event.name, event.start, event.end)
    elif feature.attribute:
        _set_attribute(draft, feature, node, event.value, event)
    elif isinstance(event.value, str):
        target = draft.schema.classes[feature.target]
        if target.individuals or not (target.named or target.key):
            individual = individual_named(draft.schema, target, event.value)
            if individual is None:
                draft.revised |= (node, feature.symbol) in draft.unknown_values
                draft.unknown_values = draft.unknown_values.set(
                    (node, feature.symbol), (event.value, event.start, event.end)
                )
                draft.touched.append(("bounds", node))
            else:
                _set_reference(draft, feature, node, individual, event)
        else:
            _refer(draft, feature, node, feature.target, event.value, event.start, event.end)


def individual_named(schema: Schema, cls: ClassInfo, text: str) -> ObjectId | None:
    """The given object of the class that a text denotes; quotes around the text do not count."""
    found = cls.individuals.get(text)
    if found is None and len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        text = text[1:-1]
        found = cls.individuals.get(text)
    if found is None and cls.name in schema.case_insensitive:
        found = cls.individuals.get(text.casefold())
    return found


def _set_attribute(
    draft: Draft, feature: FeatureInfo, node: ObjectId, value: Any, event: Assign | Refer
) -> None:
    before = draft.of(node).get(feature.forward)
    differs = feature.upper == 1 and before is not None and before != value
    if differs and not _may_replace(draft, feature, node, before, value, event):
        return
    draft.assign(feature, node, value)


def _set_reference(
    draft: Draft, feature: FeatureInfo, node: ObjectId, target: ObjectId, event: Assign | Refer
) -> None:
    stated = draft.of(node).get(feature.forward, NOTHING)
    draft.revised = draft.revised or (feature.upper == 1 and len(stated) > 0)
    if feature.upper == 1 and stated and target not in stated:
        (before,) = stated if len(stated) == 1 else (next(iter(stated)),)
        names = draft.nodes[before].name, draft.nodes[target].name
        if not _may_replace(draft, feature, node, *names, event):
            return
        draft.sever(feature, node, before)
    draft.link(feature, node, target)


def _may_replace(
    draft: Draft,
    feature: FeatureInfo,
    node: ObjectId,
    before: Any,
    value: Any,
    event: Assign | Refer,
) -> bool:
    """Whether a second, different value of a single-valued feature takes the place of the first."""
    kinds = draft.nodes[node].kinds
    info = draft.schema.classes[next(iter(kinds))]
    if not info.key:
        return True  # textX lets the last assignment win
    if feature.name in info.key:
        return False  # the same key in another case
    if info.conflict == "error":
        draft.conflicts = draft.conflicts.set(
            (node, feature.symbol), (before, value, event.start, event.end)
        )
        draft.touched.append(("bounds", node))
    return info.conflict == "last"


def _refer(
    draft: Draft, feature: FeatureInfo, node: ObjectId, target: str, name: str, start: int, end: int
) -> None:
    info = draft.schema.rules.get(target) or draft.schema.classes.get(target)
    if info is None:
        return
    individual = individual_named(draft.schema, info, name) if info.individuals else None
    if individual is not None:
        draft.link(feature, node, individual)
        return
    reference = Reference(node, feature.symbol, info.name, name, start, end)
    if draft.held is None:
        state_reference(draft, reference)
    else:
        draft.held.append(reference)


def state_reference(draft: Draft, reference: Reference) -> None:
    """A reference by name: to what is declared, else to an object that is mentioned only."""
    name, info = reference.name, draft.schema.classes[reference.target_class]
    draft.refer(reference)
    found = bearers(draft, info, name)
    if len(found) > 1:
        draft.ambiguous = draft.ambiguous.set((info.name, name), tuple(found))
    meant = found[0] if found else mentioned(draft, info, reference)
    draft.link(draft.schema.features[reference.feature], reference.source, meant)
    _look_at_mentions(draft, name)


def bearers(draft: Draft, info: ClassInfo, name: str) -> list[ObjectId]:
    """The objects in the model that a reference to the class can mean by this name, in order."""
    found = [
        other
        for other in draft.use_of(name).bearers
        if draft.nodes[other].kinds <= info.descendants
    ]
    if len(found) > 1:
        found.sort(key=lambda node: (draft.place(draft.nodes[node].start), node))
    return found


def mentioned(draft: Draft, info: ClassInfo, reference: Reference) -> ObjectId:
    """The object that is declared nowhere so far."""
    name = reference.name
    mentioned = draft.pending.get((info.name, name))
    if mentioned is None:
        mentioned = _mention_of_related_class(draft, info, name)
        if mentioned is None:
            span = (reference.start, reference.end, reference.start, reference.end)
            record = Node(info.kinds, name, True, "mentioned", *span, info.name)
            mentioned = draft.add_node(record, info.name)
        draft.pending = draft.pending.set((info.name, name), mentioned)
    return mentioned


def _mention_of_related_class(draft: Draft, info: ClassInfo, name: str) -> ObjectId | None:
    """An undeclared object that a reference to a sub- or superclass has mentioned by this name.

    It must be the same, or the more general one of the two references would be ambiguous. The
    ``rule`` of a mentioned object holds the most special class that it is referred to by.
    """
    for target in sorted(draft.use_of(name).references):
        mentioned = draft.pending.get((target, name))
        if mentioned is None:
            continue
        record = draft.nodes[mentioned]
        if record.kinds <= info.kinds:
            return mentioned
        if info.kinds <= record.kinds:
            draft.exclude(record.rule, mentioned)
            draft.include(info.name, mentioned)
            draft.replace_node(mentioned, record._replace(kinds=info.kinds, rule=info.name))
            return mentioned
    return None


def present(draft: Draft, frame: Frame) -> Frame:
    """The frame with its object in the model, with what is known of its identity."""
    if frame.node is not None or frame.info is None:
        return frame
    role = "keyed" if frame.info.key else "declared"
    number = draft.add_node(
        Node(frame.info.exact, None, True, role, frame.start, rule=frame.rule), frame.info.name
    )
    frame = frame.known(number)
    _attach(draft, frame, number)
    return _state_held(draft, frame)


def _attach(draft: Draft, frame: Frame, number: ObjectId) -> None:
    """Link an object to the one whose feature it fills."""
    if frame.feature is None or frame.parent is None or frame.parent.node is None:
        return
    feature = frame.feature
    if feature.attribute:
        return
    if feature.upper == 1 and feature.revisable:
        stated = draft.of(frame.parent.node).get(feature.forward, NOTHING)
        for before in stated if number not in stated else ():
            draft.sever(feature, frame.parent.node, before)
    draft.link(feature, frame.parent.node, number)


def _state_held(draft: Draft, frame: Frame) -> Frame:
    """State what was read before the object's key."""
    assert frame.node is not None
    for event in frame.held:
        feature = draft.schema.feature_map[frame.rule, event.feature]
        _state(draft, feature, frame.node, event)
    return frame._replace(held=())


def _identify_by_name(draft: Draft, frame: Frame, event: Assign) -> Frame:
    """A declaration gets its name: mentions of that name become this object."""
    assert frame.info is not None
    name = str(event.value)
    cls = frame.info.name
    span = (frame.start, -1, event.start, event.end)
    node = Node(frame.info.exact, name, True, "declared", *span, frame.rule)
    targets = draft.use_of(name).references
    fitting: list[tuple[str, ObjectId]] = []
    taken: list[ObjectId] = []
    if targets:
        fitting = [
            (target, draft.pending[target, name])
            for target in sorted(targets)
            if (target, name) in draft.pending and cls in draft.schema.classes[target].descendants
        ]
        taken = list(dict.fromkeys([m for _, m in fitting if cls in draft.nodes[m].kinds]))
    number = frame.node
    if number is None and taken:
        number = taken.pop(0)
        draft.exclude(draft.nodes[number].rule, number)
        draft.include(cls, number)
        draft.replace_node(number, node)
        draft.touched.append(("bounds", number))
        _attach(draft, frame, number)
    elif number is None:
        number = draft.add_node(node, cls)
        _attach(draft, frame, number)
    else:
        before = draft.nodes[number].name
        if before is not None:
            draft.revised = True
            if before != name:
                draft.lose(before, number)
        draft.replace_node(
            number,
            draft.nodes[number]._replace(name=name, name_start=event.start, name_end=event.end),
        )
        draft.touched += [("named",), ("bounds", number)]
    for target, mentioned in fitting:
        draft.pending = draft.pending.delete((target, name))
        if mentioned != number and mentioned not in taken:
            _point_elsewhere(draft, target, name, mentioned, number)
    for mentioned in taken:
        _merge(draft, mentioned, number, draft.nodes[mentioned].rule)
    draft.bear(name, number)
    if targets:
        _check_unique(draft, name)
        _look_at_mentions(draft, name)
    return frame.known(number)


def _point_elsewhere(
    draft: Draft, target: str, name: str, mentioned: ObjectId, declared: ObjectId
) -> None:
    """The references to one class mean the declared object, others the mentioned one still."""
    for reference in draft.use_of(name).references[target]:
        feature = draft.schema.features[reference.feature]
        draft.unlink(feature, reference.source, mentioned)
        draft.link(feature, reference.source, declared)


def _check_unique(draft: Draft, name: str) -> None:
    """textX: a name must be unique among the objects that a reference by this name could mean."""
    known = draft.use_of(name)
    if len(known.bearers) < 2:
        return
    for target in known.references:
        found = bearers(draft, draft.schema.classes[target], name)
        if len(found) > 1:
            draft.ambiguous = draft.ambiguous.set((target, name), tuple(found))


def _look_at_mentions(draft: Draft, name: str) -> None:
    """Whether what is mentioned by a name can be declared depends on who else bears it."""
    targets = draft.use_of(name).references
    if len(targets) > 1:
        for target in targets:
            mentioned = draft.pending.get((target, name))
            if mentioned is not None:
                draft.touched.append(("bounds", mentioned))


def _identify_by_key(draft: Draft, frame: Frame, event: Assign) -> None:
    """One more part of the key of a mention; with all of them it is known which object it is."""
    info = frame.info
    assert info is not None
    key = (*frame.key, (event.feature, event.value))
    start = event.start if frame.key_start < 0 else frame.key_start
    frame = frame._replace(key=key, held=(*frame.held, event), key_start=start, key_end=event.end)
    values = dict(key)
    if len(values) < len(info.key):
        draft.frame = frame
        return
    identity = identity_of(draft.schema, info, tuple(values[name] for name in info.key))
    number = draft.facts.get(identity)
    temporary = frame.node
    if number is None:
        label = " ".join(str(values[name]) for name in info.key)
        record = Node(
            info.exact, label, True, "keyed", frame.start, -1, start, event.end, frame.rule
        )
        if temporary is None:
            number = draft.add_node(record, info.name)
        else:
            number = temporary
            draft.replace_node(number, record)
        draft.facts = draft.facts.set(identity, number)
        draft.bear(label, number)
    elif temporary is not None and temporary != number:
        _merge(draft, temporary, number, info.name)
    frame = frame.known(number)
    mentions = ("mentions", number)
    draft.facts = draft.facts.set(
        mentions, ((frame.start, start, event.end), draft.facts.get(mentions))
    )
    if temporary is None:
        _attach(draft, frame, number)
    draft.frame = _state_held(draft, frame)


def identity_of(schema: Schema, info: ClassInfo, key: tuple[Any, ...]) -> Cell:
    """Where the object of a keyed class with this key is found in a model's facts."""
    if info.name in schema.case_insensitive:
        key = tuple(part.casefold() if isinstance(part, str) else part for part in key)
    return ("key", info.name, *key)


def _merge(draft: Draft, gone: ObjectId, kept: ObjectId, home: str) -> None:
    """Two objects turn out to be one: move the facts of the first to the second."""
    features = draft.schema.features.values()
    for feature in features:
        if feature.attribute:
            value = draft.of(gone).get(feature.forward)
            if value is not None:
                draft.unassign(feature, gone)
                for one in (value,) if feature.upper == 1 else value:
                    draft.assign(feature, kept, one)
            continue
        for target in list(draft.of(gone).get(feature.forward, ())):
            for _ in range(draft.sever(feature, gone, target)):
                draft.link(feature, kept, kept if target == gone else target)
        for source in list(draft.of(gone).get(feature.backward, ())):
            for _ in range(draft.sever(feature, source, gone)):
                draft.link(feature, source, kept)
    draft.exclude(home, gone)
    draft.drop_node(gone)


def _seal(draft: Draft, number: ObjectId, end: int) -> None:
    """Nothing more will be stated of the object, unless it is keyed."""
    record = draft.nodes[number]
    if record.role == "keyed":
        if record.end < 0 <= end:
            draft.nodes[number] = record._replace(end=end)
        return
    draft.replace_node(number, record.closed(end))
    draft.touched.append(("bounds", number))
