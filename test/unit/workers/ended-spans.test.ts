import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EndedSpans } from '../../../workers/ended-spans.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const span = (endMs: number) => ({ name: 'workflow batch', startMs: 0, endMs, failed: false });

function recorded() {
  const ends: number[] = [];
  return { ends, spans: new EndedSpans(({ endMs }) => void ends.push(endMs)) };
}

describe('spans of workflows that ended', () => {
  it('are recorded after a moment, each run once with what it told last', () => {
    const { ends, spans } = recorded();
    spans.add('a', span(1));
    spans.add('b', span(2));
    vi.advanceTimersByTime(1500);
    spans.add('a', span(3));
    vi.advanceTimersByTime(1000);
    expect(ends).toEqual([2]);
    vi.advanceTimersByTime(60_000);
    expect(ends).toEqual([2, 3]);
  });

  it('are recorded at once when the worker stops, and not again', () => {
    const { ends, spans } = recorded();
    spans.add('a', span(1));
    spans.add('b', span(2));
    spans.flush();
    expect(ends).toEqual([1, 2]);
    vi.advanceTimersByTime(60_000);
    expect(ends).toEqual([1, 2]);
  });

  it('are held in bounded number: the oldest makes room', () => {
    const { ends, spans } = recorded();
    for (let n = 0; n < 10_003; n += 1) spans.add(`run-${n}`, span(n));
    expect(ends).toEqual([0, 1, 2]);
  });
});
