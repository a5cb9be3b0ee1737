import { describe, expect, it } from 'vitest';
import { BodyBudget } from '../../../src/process/body-budget.ts';

const KIB = 1024;
const LIMIT = 1024 * KIB;
const LARGE = 100 * KIB;

describe('BodyBudget', () => {
  it('counts what bodies take until each is released, once', () => {
    const budget = new BodyBudget(LIMIT);
    const [first, second] = [budget.open(), budget.open()];
    expect([first.take(10 * KIB), second.take(20 * KIB)]).toEqual([true, true]);
    expect(budget.usedBytes).toBe(30 * KIB);
    first.release();
    first.release();
    expect(first.take(KIB)).toBe(false);
    expect(budget.usedBytes).toBe(20 * KIB);
    second.release();
    expect(budget.usedBytes).toBe(0);
  });

  it('refuses what is beyond it, which counts until the release all the same', () => {
    const budget = new BodyBudget(LIMIT);
    const held = budget.open();
    expect(held.hasRoom(LIMIT)).toBe(false);
    expect(held.take(LIMIT + 1)).toBe(false);
    expect(budget.usedBytes).toBe(LIMIT + 1);
    held.release();
    expect(held.hasRoom(0.9 * LIMIT)).toBe(true);
  });

  it('leaves a tenth to small bodies, and of a part too', () => {
    const budget = new BodyBudget(LIMIT);
    const part = { name: 'a', share: 0.5 };
    const open = () => budget.open([part]);
    expect(open().take(0.45 * LIMIT)).toBe(true);
    expect(open().hasRoom(LARGE)).toBe(false);
    expect(open().take(KIB)).toBe(true);
    expect(budget.open().take(0.4 * LIMIT)).toBe(true);
    expect(budget.open().take(LARGE)).toBe(false);
  });

  it('holds a part to its share, and leaves the rest to others', () => {
    const budget = new BodyBudget(LIMIT);
    const open = (name: string) => budget.open([{ name, share: 0.25 }]);
    const held = open('a');
    expect(held.take(0.25 * LIMIT)).toBe(false);
    expect(open('a').take(KIB)).toBe(false);
    expect(open('b').take(LARGE)).toBe(true);
    held.release();
    expect(open('a').take(LARGE)).toBe(true);
  });

  it('counts many pieces for more than their bytes', () => {
    const budget = new BodyBudget(LIMIT);
    const held = budget.open();
    let pieces = 0;
    while (held.takePiece(1)) pieces += 1;
    expect(pieces).toBeGreaterThan(1000);
    expect(pieces).toBeLessThan(LIMIT / 256);
  });
});
