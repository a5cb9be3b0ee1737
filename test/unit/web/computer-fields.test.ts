import { describe, expect, it } from 'vitest';
import { changesOf, fieldsOf } from '../../../web/src/pages/computer/edit-fields.ts';
import { reportFacts } from '../../../web/src/pages/computer/reports.ts';
import { computerState, lastContact } from '../../../web/src/pages/computers/describe-computer.ts';

const alert = (
  type: 'ComputerOfflineAlert' | 'SecurityUpgradesAlert' | 'PackageUpgradesAlert' | 'EsmDisabledAlert',
) => ({
  type,
  summary: type,
  severity: 'info' as const,
});

describe('the state of a computer', () => {
  it.each([
    ['Fine', {}],
    ['Fine', { alerts: [alert('PackageUpgradesAlert')] }],
    ['Needs restart', { reboot_required_flag: true }],
    ['Security upgrades', { reboot_required_flag: true, alerts: [alert('SecurityUpgradesAlert')] }],
    ['2 alerts', { alerts: [alert('SecurityUpgradesAlert'), alert('EsmDisabledAlert')] }],
    ['Offline', { alerts: [alert('SecurityUpgradesAlert'), alert('ComputerOfflineAlert')] }],
    ['Archived', { archived: true, alerts: [alert('ComputerOfflineAlert')] }],
  ])('is %s', (label, computer) => {
    expect(computerState({ archived: false, reboot_required_flag: false, ...computer }).label).toBe(label);
  });

  it('has the later of two contacts', () => {
    const [early, late] = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z'];
    expect(lastContact({ last_exchange_time: early!, last_ping_time: late! })).toBe(late);
    expect(lastContact({ last_exchange_time: early!, last_ping_time: null })).toBe(early);
    expect(lastContact({ last_exchange_time: null, last_ping_time: null })).toBeNull();
  });
});

describe('the form about a computer', () => {
  const computer = { title: 'web', comment: '', tags: ['b', 'a'], access_group: 'global' };

  it('sends only what differs', () => {
    expect(changesOf(computer, fieldsOf(computer))).toEqual({});
    expect(changesOf(computer, { ...fieldsOf(computer), tags: ' a,b  a' })).toEqual({});
    expect(changesOf(computer, { ...fieldsOf(computer), tags: '', comment: 'x' })).toEqual({ tags: [], comment: 'x' });
  });
});

it('reads reports of tools whatever their keys and values are', () => {
  expect(reportFacts({ patch_state: 'applied', on: true, fixes: [1, 'b'], deep: { a: { b: 2 } }, none: null })).toEqual(
    [
      ['Patch state', 'applied'],
      ['On', 'yes'],
      ['Fixes', '1, b'],
      ['Deep', 'A: B: 2'],
    ],
  );
  for (const report of [null, undefined, '', 'text', 5]) expect(reportFacts(report)).toEqual([]);
});
