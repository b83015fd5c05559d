"""One finding for one cause: conflicts that the same repair would end.

Threads that come to one element at once, by a wrong index or an update that is not atomic, are one cause for each such
expression. All else asks for order: where one barrier would do for several conflicts, it is what is missing (spans.py).
"""

from dataclasses import replace

import numpy as np

from . import spans
from .conflicts import conflicts, order_of
from .cures import ONE_ELEMENT, SPINNING, TWO_FLAGS, UPDATE, race_cure, update_cure
from .meeting import Meeting, index_of
from .missing import Missing
from .raced import describe
from .updates import alike, atomics


def races(trace, locations=None):
    """One race `Finding` for each cause."""
    kernel_order = order_of(trace)
    meetings = [Meeting(trace, conflict, kernel_order) for conflict in conflicts(trace, locations, kernel_order)]
    missing = Missing(trace, kernel_order)
    flagged, meetings = _by_flags(trace, meetings, missing)
    plain, meetings = _by_plain_flags(trace, meetings)
    groups, rest = _of_updates(trace, *_at_one_element(trace, meetings))
    return [*flagged, *plain, *(_of_element(trace, g) for g in groups), *_of_order(trace, rest, missing)]


def _by_flags(trace, meetings, missing):
    """(findings of what flags, counters and locks of the kernel would order if they had their fences and barriers:
    one for each that is missing, the other meetings)."""
    groups, rest = {}, []
    for m in meetings:
        cure = missing.cure(m.conflict) or missing.of_two_flags(m.conflict)
        groups.setdefault(cure, []).append(m) if cure else rest.append(m)
    found = []
    for cure, group in groups.items():
        example = min(group, key=lambda m: (_lines(trace, m), m.array))
        finding = describe(trace, example.conflict, cure)
        if cure == TWO_FLAGS:
            finding = replace(
                finding, message=finding.message.replace("and nothing orders", "and nothing that is followed orders")
            )
        found.append(_with_others(trace, finding, example, group))
    return found, rest


def _by_plain_flags(trace, meetings):
    """(findings of a lock made of plain loads and stores, the other meetings): what all its threads wait for, and what
    they do behind the wait."""
    flags = [m for m in meetings if _spins(trace, m)]
    polled = {s for m in flags for s in m.sites if _polls(trace, s)}
    heads = {trace.sites[s].line for s in polled}
    asked = [s for number, s in enumerate(trace.sites) if s.line in heads and _polls(trace, number)]
    scopes, arrays = {m.conflict.scope for m in flags}, {s.text.partition("[")[0] for s in asked}
    arrays |= {m.array for m in flags}
    polls = np.flatnonzero(np.isin(trace.site[:], list(polled)))
    begun = dict(zip(trace.thread[polls][::-1].tolist(), polls[::-1].tolist(), strict=True))  # thread -> its first poll

    def held(m):
        came = [(begun.get(int(trace.thread[r])), int(r)) for r in (m.conflict.a[0], m.conflict.b[0])]
        waited = [poll < row for poll, row in came if poll is not None]  # who goes first need not wait
        return m.conflict.scope in scopes and bool(waited) and all(waited)

    group = [m for m in meetings if m in flags or m.array in arrays or held(m)]
    if len(group) == len(flags):
        return [], meetings
    places = (trace.sites[k] for m in group if m.array in arrays for k in m.sites)
    places = sorted({(s.line, s.text) for s in (*places, *asked)})
    cure = f"{SPINNING} Here so must {', '.join(f'`{text}` on line {line}' for line, text in places)}."
    example = min(flags, key=lambda m: (_lines(trace, m), m.array))
    return [_with_others(trace, describe(trace, example.conflict, cure), example, group)], [
        m for m in meetings if m not in group
    ]


# -- several threads at one element ------------------------------------------------------------------------------


def _at_one_element(trace, meetings):
    """(groups of meetings at an element that several threads store at once, the other meetings)."""
    groups, rest = {}, []
    for m in meetings:
        if m.alone and m.at_once:
            groups[m.array, m.sites[0]] = [m]
    for m in meetings:
        keys = [(m.array, site) for site in m.sites if (m.array, site) in groups]
        if m.alone and m.at_once:
            continue
        if m.by_one_thread and keys:  # a thread that uses the element for itself as well: it should be its own
            if len(keys) == 2 and groups[keys[0]] is not groups[keys[1]]:
                joined, gone = groups[keys[0]], groups[keys[1]]
                joined += gone
                for key, group in groups.items():
                    groups[key] = joined if group is gone else group
            groups[keys[0]].append(m)
        else:
            rest.append(m)
    merged = {}
    for group in {id(g): g for g in groups.values()}.values():
        merged.setdefault(_one_fault(trace, group), []).extend(group)
    return list(merged.values()), rest


def _of_updates(trace, groups, meetings):
    """The same groups and meetings, but that updates which add (say) take in all meetings that atomic additions would
    end, and no others: what sets an element before, or reads the sum, still asks for order then."""
    names, rest, of_site, same = atomics(trace.sites) if groups else [], [], {}, {}
    for group in groups:
        updates = {s for m in group if _is_update(trace, m) for s in m.sites}
        name = names[min(updates)] if updates else None
        adds = alike(names, name) if name else set()
        if not updates or not updates <= adds or any(trace.guards.get(s) for s in updates):
            continue
        same[id(group)] = adds
        alone = {s for m in group if m.alone for s in m.sites}
        rest += [m for m in group if not {*m.sites} <= adds | alone]
        group[:] = [m for m in group if {*m.sites} <= adds | alone]
        of_site |= {(m.array, s): group for m in group for s in m.sites}
    for m in meetings:
        group = next((of_site[m.array, s] for s in m.sites if (m.array, s) in of_site), None)
        (rest if group is None or not {*m.sites} <= same[id(group)] else group).append(m)
    return groups, rest


def _one_fault(trace, group):
    """What groups share that one repair would end: an index that is wrong, or a lock that does not hold."""
    site = group[0].sites[0]
    update = len(group) > 1
    held = frozenset(trace.guards.get(site, ())) if trace.fences else frozenset()
    if update and held:
        return "lock", held
    if update or not index_of(trace.sites[site]):
        return "update", group[0].array, site
    return "index", index_of(trace.sites[site]), trace.sites[site].function


def _of_element(trace, group):
    example = min(group, key=lambda m: (not _is_update(trace, m), len({*_lines(trace, m)}), m.alone, _lines(trace, m)))
    found = describe(trace, example.conflict)
    if not found.cure.startswith((UPDATE, ONE_ELEMENT)) and "same memory" not in found.message:
        updates = _is_update(trace, example)
        found = replace(found, cure=update_cure(trace, int(example.conflict.a[0])) if updates else ONE_ELEMENT)
    return _with_others(trace, found, example, group)


def _is_update(trace, meeting):
    """Whether its threads load an element and then store there."""
    kinds = {trace.sites[s].kind for s in meeting.sites}
    return kinds == {"load", "store"} and _loads_first(trace, meeting)


def _loads_first(trace, meeting):
    load, store = sorted(meeting.sites, key=lambda s: trace.sites[s].kind != "load")
    return spans.point_of(trace.sites[load]) < spans.point_of(trace.sites[store])


# -- accesses that nothing orders --------------------------------------------------------------------------------


def _of_order(trace, meetings, missing):
    """A finding for each barrier that is missing."""
    every = {s for m in meetings for s in m.spans}
    chosen, found = spans.cover(every), []
    listed = set()
    for point, tight in chosen:
        members = [m for m in meetings if m.spans & tight]
        wide = {s for s in every if spans.hits(point, s)}
        more = [m for m in meetings if id(m) not in listed and m not in members and m.spans & wide]
        claimed = {s for _, others in chosen for s in others}
        more = [m for m in more if not m.spans & claimed]
        listed |= {id(m) for m in (*members, *more)}
        found.append(_missing(trace, [*members, *more], point, tight, missing))
    found += [_missing(trace, [m], None, (), missing) for m in meetings if id(m) not in listed]
    return found


def _missing(trace, group, point, tight, missing):
    example = min(group, key=lambda m: (not _spins(trace, m), _lines(trace, m), m.array))
    conflict = example.conflict
    room = spans.room(point, tight) if tight else None
    scope = max((m.conflict.scope for m in group), key=("warp", "block", "grid").index)
    cure = race_cure(trace, scope, int(conflict.a[0]), int(conflict.b[0]), room, len(group) > 1)
    if _spins(trace, example):
        cure = SPINNING
    elif scope == "grid":
        cure = missing.of_what_proves_nothing(conflict) or cure
    return _with_others(trace, replace(describe(trace, conflict, cure), scope=scope), example, group)


def _spins(trace, meeting):
    """Whether one of its accesses is a plain load in the head of a ``while``: a flag that somebody waits for."""
    return any(_polls(trace, number) for number in meeting.sites)


def _polls(trace, number):
    site = trace.sites[number]
    return site.kind == "load" and any(
        loop.kind == "loop"
        and loop.text.startswith("while")
        and loop.file == site.file
        and (loop.line, loop.column) <= (site.line, site.column) <= (loop.end_line, loop.end_column)
        for loop in trace.sites
    )


# -- words -------------------------------------------------------------------------------------------------------


def _lines(trace, meeting):
    """For the order of findings: as in the source."""
    return tuple(sorted((trace.sites[s].line for s in meeting.sites), reverse=True))


def _with_others(trace, found, example, group):
    """A finding that speaks for others as well: it names their expressions, counts theirs, and knows their lines."""
    said, others = {_pair(trace, example)}, []
    texts = {trace.sites[s].text for s in example.sites}
    for m in sorted(group, key=lambda m: (_lines(trace, m), m.array)):
        site_a, site_b = (trace.sites[s] for s in m.sites)
        if _pair(trace, m) in said or (m.alone and site_a.text in texts and site_a.line in found.lines):
            continue
        said.add(_pair(trace, m))
        lines = f"line {site_a.line}" if site_a.line == site_b.line else f"lines {site_b.line} and {site_a.line}"
        pair = f"`{site_a.text}`" if site_a.text == site_b.text else f"`{site_b.text}` and `{site_a.text}`"
        others.append(f"{pair} on {lines}")
    message = found.message + (f" So it is with {', with '.join(others)}." if others else "")
    lines = {trace.sites[s].line for m in group for s in m.sites}
    position = min(max(int(m.conflict.a[0]), int(m.conflict.b[0])) for m in group)
    count = sum(m.conflict.count for m in group)
    scope = max((m.conflict.scope for m in group), key=("warp", "block", "grid").index)
    told = frozenset().union(*(_told(trace, m.conflict) for m in group))
    found = replace(found, message=message, lines=tuple(sorted(lines)), count=count, position=position, scope=scope)
    return replace(found, told=told)


def _told(trace, conflict):
    rows = np.append(conflict.a, conflict.b)
    accesses = set(zip(trace.site[rows].tolist(), trace.array[rows].tolist(), strict=True))
    named = ((trace.sites[s], trace.arrays[a].name) for s, a in accesses)
    return {(site.line, site.text, site.kind, array) for site, array in named}


def _pair(trace, meeting):
    return frozenset((trace.sites[s].text, trace.sites[s].line) for s in meeting.sites)
