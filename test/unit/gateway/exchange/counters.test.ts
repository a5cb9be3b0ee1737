import { describe, expect, it } from 'vitest';
import {
  acknowledge,
  type OutgoingState,
  type QueueEntry,
  selectIncoming,
} from '../../../../src/gateway/exchange/counters.ts';

describe('selectIncoming', () => {
  it.each([
    ['adopts the first number it sees', null, 27, 3, { gap: false, skip: 0, take: 3, inNext: 30 }],
    ['takes all when the numbers fit', 5, 5, 2, { gap: false, skip: 0, take: 2, inNext: 7 }],
    ['skips what was counted', 5, 3, 4, { gap: false, skip: 2, take: 2, inNext: 7 }],
    ['skips all of an old payload', 9, 3, 4, { gap: false, skip: 4, take: 0, inNext: 9 }],
    ['takes nothing over a gap', 5, 6, 4, { gap: true, skip: 4, take: 0, inNext: 5 }],
    ['takes at most 1,000', 0, 0, 1500, { gap: false, skip: 0, take: 1000, inNext: 1000 }],
  ])('%s', (_name, inNext, sequence, count, expected) => {
    expect(selectIncoming(inNext, sequence, count)).toEqual(expected);
  });
});

describe('acknowledge', () => {
  const operation = (activityId: number): QueueEntry => ({
    kind: 'operation',
    activityId,
    payloadId: 1,
    messageType: 'x',
    position: activityId,
  });
  const control: QueueEntry = { kind: 'control', position: 1, message: { type: 'accepted-types' } };
  const state = (queue: QueueEntry[], change: Partial<OutgoingState> = {}): OutgoingState => ({
    outBase: 10,
    headTries: 0,
    headSends: 1,
    queue,
    ...change,
  });

  it('adopts the first number', () => {
    expect(acknowledge(state([], { outBase: null }), 36, false)).toMatchObject({ outBase: 36, acked: [] });
  });

  it('drops as many entries as the number moved, and names the operations among them', () => {
    const result = acknowledge(state([control, operation(2), operation(3)]), 12, true);
    expect(result).toMatchObject({ outBase: 12, acked: [2], queue: [operation(3)], headTries: 0, headSends: 0 });
  });

  it('keeps everything when the number went back or beyond what was sent', () => {
    for (const next of [3, 12]) {
      expect(acknowledge(state([operation(2)]), next, true)).toMatchObject({ outBase: next, queue: [operation(2)] });
    }
  });

  it('counts as sent only what one response holds', () => {
    const queue = Array.from({ length: 150 }, (_, i) => operation(i + 2));
    expect(acknowledge(state(queue), 110, true).queue).toHaveLength(50);
    expect(acknowledge(state(queue), 111, true).queue).toHaveLength(150);
  });

  it('gives up the head after five responses that arrived, or twenty that may not have', () => {
    const queue = [operation(2), operation(3)];
    expect(acknowledge(state(queue, { headTries: 3 }), 10, true)).toMatchObject({ dropped: null, headTries: 4 });
    expect(acknowledge(state(queue, { headTries: 4 }), 10, true)).toMatchObject({
      dropped: operation(2),
      queue: [operation(3)],
      headTries: 0,
      headSends: 0,
    });
    expect(acknowledge(state(queue, { headTries: 4 }), 10, false).dropped).toBeNull();
    expect(acknowledge(state(queue, { headSends: 20 }), 10, false).dropped).toEqual(operation(2));
  });
});
