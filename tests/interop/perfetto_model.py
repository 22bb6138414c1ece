# SPDX-License-Identifier: Apache-2.0
"""Reads Perfetto's binary traces by the rules of its importer."""

import collections
import json

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent

REAL_TIME = 1
SEQUENCE_CLOCK = 64


def plain(value):
    """An argument as both formats can say it: lists and objects are texts in JSON here."""
    if isinstance(value, (list, dict)):
        return json.dumps(value, default=float)
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except ValueError:
            return value
        return json.dumps(parsed) if isinstance(parsed, (list, dict)) else value
    return float(value)


Span = collections.namedtuple("Span", "process thread name category start end arguments")


def frozen(arguments):
    return tuple(sorted((key, plain(value)) for key, value in arguments.items()))


class Sequence:
    """What a packet may refer to: earlier packets of its sequence."""

    def __init__(self):
        self.is_valid = False
        self.now = None
        self.names = collections.defaultdict(dict)
        self.track = 0
        self.clock = 0

    def take_names(self, data):
        for field in ("event_categories", "event_names", "debug_annotation_names"):
            for entry in getattr(data, field):
                self.names[field][entry.iid] = entry.name
        for entry in data.debug_annotation_string_values:
            self.names["texts"][entry.iid] = entry.str.decode()

    def argument(self, annotation):
        name = (annotation.name if annotation.HasField("name") else
                self.names["debug_annotation_names"][annotation.name_iid])
        kind = annotation.WhichOneof("value")
        value = getattr(annotation, kind)
        return name, self.names["texts"][value] if kind == "string_value_iid" else value


class Model:
    """Slices, counters, instants and arrows, by the rules of Perfetto's importer."""

    def __init__(self, trace):
        self.tracks = {}
        self.events = []  # time and what happens, as in the file
        self.sequences = collections.defaultdict(Sequence)
        for packet in trace.packet:
            self.take(packet)
        self.events.sort(key=lambda event: event[0])
        self.slices, self.instants = [], []
        self.counters = collections.defaultdict(list)
        self.flows = collections.defaultdict(list)
        self.run()

    def take(self, packet):
        sequence = self.sequences[packet.trusted_packet_sequence_id]
        if packet.sequence_flags & TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            sequence.__init__()
            sequence.is_valid = True
        if packet.sequence_flags & TracePacket.SEQ_NEEDS_INCREMENTAL_STATE:
            assert sequence.is_valid
        if packet.HasField("clock_snapshot"):
            clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
            assert clocks[SEQUENCE_CLOCK].is_incremental
            assert clocks[SEQUENCE_CLOCK].timestamp == clocks[REAL_TIME].timestamp
            assert packet.clock_snapshot.primary_trace_clock == REAL_TIME
            sequence.now = clocks[REAL_TIME].timestamp
        if packet.HasField("trace_packet_defaults"):
            sequence.clock = packet.trace_packet_defaults.timestamp_clock_id
            sequence.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in self.tracks
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        sequence.take_names(packet.interned_data)
        if packet.HasField("track_event"):
            assert sequence.clock == SEQUENCE_CLOCK
            sequence.now += packet.timestamp
            self.take_event(packet.track_event, sequence)

    def take_event(self, event, sequence):
        track = event.track_uuid or sequence.track
        assert track in self.tracks
        name = event.name or sequence.names["event_names"].get(event.name_iid)
        categories = list(event.categories) + [
            sequence.names["event_categories"][iid] for iid in event.category_iids]
        arguments = dict(sequence.argument(annotation) for annotation in event.debug_annotations)
        self.events.append((sequence.now, track, event, name, categories, arguments))

    def place(self, track):
        """The ids of the process and the thread of a track, or the name of a device's stream."""
        descriptor = self.tracks[track]
        if descriptor.HasField("thread"):
            return descriptor.thread.pid, descriptor.thread.tid
        if descriptor.HasField("process"):
            return descriptor.process.pid, None
        process, thread = self.place(descriptor.parent_uuid)
        if thread is None and self.tracks[descriptor.parent_uuid].name.startswith("GPU "):
            thread = descriptor.name
        return process, thread

    def run(self):
        open_slices = collections.defaultdict(list)
        for now, track, event, name, categories, arguments in self.events:
            process, thread = self.place(track)
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                span = [process, thread, name, categories[0], now, None, frozen(arguments)]
                open_slices[track].append(span)
                self.slices.append(span)
                for flow in list(event.flow_ids) + list(event.terminating_flow_ids):
                    self.flows[flow].append((process, thread, now))
            elif event.type == TrackEvent.TYPE_SLICE_END:
                open_slices[track].pop()[5] = now
            elif event.type == TrackEvent.TYPE_INSTANT:
                self.instants.append((process, thread, name, now, frozen(arguments)))
            elif event.type == TrackEvent.TYPE_COUNTER:
                value = (event.counter_value if event.HasField("counter_value") else
                         event.double_counter_value)
                self.counters[process, self.tracks[track].name].append((now, float(value)))
        assert not any(open_slices.values())
        self.slices = [Span(*span) for span in self.slices]
