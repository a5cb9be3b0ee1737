import { describe, expect, it } from 'vitest';
import { RequestMemoryLimit } from '../../../../src/process/admission/request-memory.ts';

const KIB = 1024;
const LIMIT = 1024 * KIB;
const LARGE = 100 * KIB;

describe('RequestMemoryLimit', () => {
  it('counts the memory of each body until it is released, once', () => {
    const budget = new RequestMemoryLimit(LIMIT);
    const [first, second] = [budget.reserve(), budget.reserve()];
    expect([first.add(10 * KIB), second.add(20 * KIB)]).toEqual([true, true]);
    expect(budget.usedBytes).toBe(30 * KIB);
    first.release();
    first.release();
    expect(first.add(KIB)).toBe(false);
    expect(budget.usedBytes).toBe(20 * KIB);
    second.release();
    expect(budget.usedBytes).toBe(0);
  });

  it('rejects what exceeds it, which still counts until it is released', () => {
    const budget = new RequestMemoryLimit(LIMIT);
    const held = budget.reserve();
    expect(held.hasRoom(LIMIT)).toBe(false);
    expect(held.add(LIMIT + 1)).toBe(false);
    expect(budget.usedBytes).toBe(LIMIT + 1);
    held.release();
    expect(held.hasRoom(0.9 * LIMIT)).toBe(true);
  });

  it('reserves a tenth for small bodies, also of a share', () => {
    const budget = new RequestMemoryLimit(LIMIT);
    const part = { name: 'a', share: 0.5 };
    const open = () => budget.reserve([part]);
    expect(open().add(0.45 * LIMIT)).toBe(true);
    expect(open().hasRoom(LARGE)).toBe(false);
    expect(open().add(KIB)).toBe(true);
    expect(budget.reserve().add(0.4 * LIMIT)).toBe(true);
    expect(budget.reserve().add(LARGE)).toBe(false);
  });

  it('limits a share, and leaves the rest to others', () => {
    const budget = new RequestMemoryLimit(LIMIT);
    const open = (name: string) => budget.reserve([{ name, share: 0.25 }]);
    const held = open('a');
    expect(held.add(0.25 * LIMIT)).toBe(false);
    expect(open('a').add(KIB)).toBe(false);
    expect(open('b').add(LARGE)).toBe(true);
    held.release();
    expect(open('a').add(LARGE)).toBe(true);
  });

  it('counts an overhead per chunk', () => {
    const budget = new RequestMemoryLimit(LIMIT);
    const held = budget.reserve();
    let pieces = 0;
    while (held.addChunk(1)) pieces += 1;
    expect(pieces).toBeGreaterThan(1000);
    expect(pieces).toBeLessThan(LIMIT / 256);
  });
});
