import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ForeignSpan } from '../../../../src/process/tracing.ts';
import { WorkflowSpans } from '../../../../workers/telemetry/workflow-spans.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const span = (spanId: string, ended: number) => ({
  name: 'RunWorkflow:ScriptRun',
  kind: SpanKind.INTERNAL,
  spanContext: () => ({ traceId: 'a'.repeat(32), spanId, traceFlags: 1 }),
  parentSpanId: 'b'.repeat(16),
  startTime: [0, 0] as [number, number],
  endTime: [ended, 0] as [number, number],
  duration: [ended, 0] as [number, number],
  status: { code: SpanStatusCode.OK },
  attributes: { workflowId: 'activity/1', runId: 'r', memo: 'secret' },
  links: [],
  events: [],
  ended: true,
  resource: undefined as never,
  instrumentationLibrary: { name: 'library' },
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
});

function exported() {
  const out: ForeignSpan[] = [];
  return { ends: () => out.map(({ endTime }) => endTime[0]), out, spans: new WorkflowSpans((it) => void out.push(it)) };
}

describe('spans of workflows', () => {
  it('are exported after a moment, each once with what it reported last', () => {
    const { ends, spans } = exported();
    spans.add(span('a', 1));
    spans.add(span('b', 2));
    vi.advanceTimersByTime(1500);
    spans.add(span('a', 3));
    vi.advanceTimersByTime(1000);
    expect(ends()).toEqual([2]);
    vi.advanceTimersByTime(60_000);
    expect(ends()).toEqual([2, 3]);
  });

  it('are exported at once when the worker stops, and not again', () => {
    const { ends, spans } = exported();
    spans.add(span('a', 1));
    spans.add(span('b', 2));
    spans.flush();
    expect(ends()).toEqual([1, 2]);
    vi.advanceTimersByTime(60_000);
    expect(ends()).toEqual([1, 2]);
  });

  it('are held in bounded number: the oldest makes room', () => {
    const { ends, spans } = exported();
    for (let n = 0; n < 10_003; n += 1) spans.add(span(`run-${n}`, n));
    expect(ends()).toEqual([0, 1, 2]);
  });

  it('have their parent and, of what the SDK adds about the workflow, only the ids', () => {
    const { out, spans } = exported();
    spans.add(span('a', 1));
    spans.flush();
    expect(out[0]).toMatchObject({
      parentSpanContext: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
      attributes: { 'flotilla.workflow_id': 'activity/1', 'flotilla.run_id': 'r' },
      instrumentationScope: { name: 'library' },
    });
    expect(out[0]!.attributes).not.toHaveProperty('memo');
  });
});
