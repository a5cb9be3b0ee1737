import { describe, expect, it } from 'vitest';
import { type DoneOperation, inverseOf } from '../../../../src/domain/engine/inverse.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
/** As every object has it. */
const name = 'constructor';

function undo(type: string, snapsBefore: DoneOperation['snapsBefore']) {
  const done = {
    type: 'InstallSnaps',
    summary: 'Install snaps',
    message: { type, fields: { snaps: [{ name }] } },
    complemented: { install: [], remove: [] },
    snapsBefore,
  };
  return inverseOf(done, NOW).map(({ message }) => [message.type, message.fields['snaps']]);
}

describe('inverseOf', () => {
  it.each([[null], [{}]])('PROTO: takes names of snaps as names alone, before: %j', (before) => {
    expect(undo('install-snaps', before)).toEqual([['remove-snaps', [{ name }]]]);
    expect(undo('hold-snaps', before)).toEqual([['unhold-snaps', [{ name }]]]);
  });
});
