import { describe, expect, it } from 'vitest';
import { listProcesses, machineTimes, parseMachineTimes, parseStat, treeOf } from '../../tools/bench/harness/proc.ts';

describe('parseStat', () => {
  it('adds own and reaped CPU, whatever the name of the process holds', () => {
    const line = '42 (a) (b c) S 7 42 42 0 -1 4194560 1 2 3 4 100 50 30 20 20 0 1 0 5 6 7';
    expect(parseStat(line)).toEqual({ pid: 42, parent: 7, ownCpuMs: 1500, cpuMs: 2000 });
  });

  it('rejects other text', () => {
    expect(parseStat('')).toBeNull();
    expect(parseStat('1 (x) S 1')).toBeNull();
  });
});

describe('treeOf', () => {
  it('finds children of children and nothing else', () => {
    const stat = (pid: number, parent: number) => ({ pid, parent, ownCpuMs: 0, cpuMs: 0 });
    const all = [stat(1, 0), stat(5, 1), stat(6, 5), stat(7, 6), stat(8, 1)];
    expect(treeOf(all, 5).map((p) => p.pid)).toEqual([5, 6, 7]);
    expect(treeOf(all, 99)).toEqual([]);
  });

  it('finds this process below its parent', () => {
    expect(treeOf(listProcesses(), process.ppid).map((p) => p.pid)).toContain(process.pid);
  });
});

describe('parseMachineTimes', () => {
  it('keeps guest time, which user time already holds, out of the sum', () => {
    const times = parseMachineTimes('cpu  10 1 2 80 5 0 1 1 7 7\ncpu0 1 1 1 1\n');
    expect(times).toEqual({ busyMs: 140, stealMs: 10, totalMs: 1000 });
  });

  it('reads this machine', () => {
    expect(machineTimes().totalMs).toBeGreaterThan(0);
  });
});
