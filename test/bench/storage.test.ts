import { describe, expect, it } from 'vitest';
import { framesAdded, parseWalIndex, writesBetween } from '../../tools/bench/harness/storage.ts';

describe('parseWalIndex', () => {
  const head = (initialised: number, size: number) => {
    const bytes = Buffer.alloc(24);
    new Uint32Array(bytes.buffer, bytes.byteOffset, 6).set([3_007_000, 0, 42, 0, 7]);
    bytes[12] = initialised;
    new Uint16Array(bytes.buffer, bytes.byteOffset + 14, 1)[0] = size;
    return bytes;
  };

  it('reads transactions, frames and page size', () => {
    expect(parseWalIndex(head(1, 4096))).toEqual({ change: 42, frames: 7, pageBytes: 4096 });
  });

  it('takes a page size of 1 for 64 KiB, as the format defines', () => {
    expect(parseWalIndex(head(1, 1))?.pageBytes).toBe(65_536);
  });

  it('reads nothing from an index that is not initialised or cut off', () => {
    expect(parseWalIndex(head(0, 4096))).toBeNull();
    expect(parseWalIndex(Buffer.alloc(4))).toBeNull();
  });
});

describe('framesAdded', () => {
  it('counts on after the log started again', () => {
    expect(framesAdded(10, 15)).toBe(5);
    expect(framesAdded(1000, 30)).toBe(30);
  });
});

describe('writesBetween', () => {
  it('subtracts', () => {
    expect(writesBetween({ commits: 1, walBytes: 10 }, { commits: 4, walBytes: 110 })).toEqual({
      commits: 3,
      walBytes: 100,
    });
  });
});
