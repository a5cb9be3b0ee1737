import { describe, expect, it } from 'vitest';
import { BFloat, BTuple, type BValue, isDict } from '../../../src/protocol/bpickle.ts';
import { type FactType, factOf } from '../../../tools/simulator/inventory/facts.ts';
import { Machine } from '../../../tools/simulator/inventory/machine.ts';
import { reportingAgent } from '../../support/computers/computers.ts';
import fc from '../../support/common/random.ts';

const { here, rows, computer } = reportingAgent();
const long = (length: number) => 'x'.repeat(length);

describe('any odd value anywhere in a report', () => {
  const machine = new Machine({ seed: 7, index: 15, epoch: 1_795_265_174 });
  const TYPES: FactType[] = [
    'computer-info',
    'distribution-info',
    'network-device',
    'processor-info',
    'active-process-info',
    'users',
    'snaps',
    'snap-services',
    'snap-info',
    'reboot-required-info',
    'update-manager-info',
    'computer-tags',
    'livepatch',
    'ubuntu-pro-info',
    'hardware-info',
    'cloud-instance-metadata',
  ];
  const odd = fc.oneof(
    fc.constantFrom<BValue>(null, true, -1, 2 ** 31, 2 ** 40, 2n ** 90n, '', '\0', 'a\0b', new BFloat(1.5)),
    fc.constantFrom<BValue>(
      new BFloat(Number.NaN),
      new BFloat(Infinity),
      Buffer.from([0xff, 0xfe]),
      [],
      {},
      [[1]],
      new BTuple([1, 2]),
    ),
    fc.constantFrom<BValue>(
      long(70),
      long(5000),
      long(150_000),
      '\ud800x',
      { a: { b: ['\0'] } },
      '{"a": "\\ud800\\u0000"}',
    ),
  );

  /** The report with one value replaced; `place` chooses which. */
  function exchanged(value: BValue, at: { left: number }, by: BValue): BValue {
    if (at.left-- === 0) return by;
    if (Array.isArray(value)) return value.map((item) => exchanged(item, at, by));
    if (!isDict(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, key === 'type' ? item : exchanged(item, at, by)]),
    );
  }

  it('is either stored or noted, and never rejected by the database', async () => {
    const reports = fc.array(fc.tuple(fc.constantFrom(...TYPES), fc.integer({ min: 1, max: 60 }), odd), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(reports, async (changes) => {
        const messages = changes.flatMap(([type, left, by]) => {
          const fact = factOf(type, machine);
          return fact ? [exchanged(fact, { left }, by)] : [];
        });
        const { status } = await here.agent.exchange([...messages, { type: 'computer-info', 'total-memory': 77 }]);
        expect(status).toBe(200);
        expect((await computer())['total_memory']).toBe(77);
        const reasons = await rows('agent_rejected_message', 'reason', 'reason');
        expect(reasons).not.toContainEqual({ reason: 'could not be stored' });
      }),
      { numRuns: 120 },
    );
  });
});
