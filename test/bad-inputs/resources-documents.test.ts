import { describe, it } from 'vitest';
import { usgProfile } from '../support/compliance/usg.ts';
import { scriptProfile } from '../support/scripts/scripts.ts';
import { times, useGuardedWorld } from './resource-guard.ts';

/** What attacks cost a server, measured in its own process while an honest client goes on. @see docs/reliability.md#cost-of-an-attack */
const world = useGuardedWorld();
const { call } = world;
const MIB = 1024 * 1024;

describe('documents and schedules', () => {
  const post = (over: object) => call('POST', '/usg-profiles', usgProfile(over));
  const file = (tailoring_file: string) => post({ benchmark: undefined, tailoring_file });
  const root = (content: string) => `<Tailoring>${content}</Tailoring>`;
  const entities = Array.from({ length: 10 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('');

  it.each([
    ['XML-bomb: nested entities', `<!DOCTYPE t [<!ENTITY e0 "ha">${entities}]>${root('&e10;')}`],
    ['XML-bomb: one long entity', `<!DOCTYPE t [<!ENTITY a "${'a'.repeat(50_000)}">]>${root('&a;'.repeat(50_000))}`],
    ['XML-bomb: as many numeric references as a file may have', root('&#65;'.repeat(200_000))],
    ['XXE: a file', `<!DOCTYPE t [<!ENTITY f SYSTEM "file:///dev/zero">]>${root('&f;')}`],
    ['XML-wrong: 100,000 levels', root('<a>'.repeat(100_000) + '</a>'.repeat(100_000))],
    ['XML-wrong: 50 MB', root('x'.repeat(50 * MIB))],
    [
      'XML-wrong: attributes without end',
      `<Tailoring ${Array.from({ length: 60_000 }, (_, n) => `a${n}=""`).join(' ')}/>`,
    ],
  ])('%s', async (_, xml) => {
    await world.server.expectHarmless(() => times(2, [201, 400, 409, 413], () => file(xml)));
  });

  it('RRULE-bad: rules whose dates are far or many', async () => {
    const rules = [
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO',
      'FREQ=SECONDLY;COUNT=1000000000',
      'FREQ=WEEKLY;COUNT=1000000000',
      'FREQ=WEEKLY;INTERVAL=0',
      'FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,1,2,3,4,5;BYSETPOS=366',
      `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 366 }, (_, n) => n + 1).join(',')}`,
    ];
    const attack = async () => {
      for (const schedule of rules)
        await times(2, [201, 400, 409], () => post({ schedule, title: schedule.slice(0, 60) }));
    };
    await attack();
    await world.server.expectHarmless(attack);
  });

  it('CRON-bad: times that never come or always do', async () => {
    const intervals = [
      '0 0 31 2 *',
      '0 0 30 2 *',
      '* * * * *',
      '*/0 * * * *',
      '0-59/1 0-23 1-31 1-12 0-7',
      '0 0 29 2 1',
    ];
    const attack = async () => {
      for (const interval of intervals) {
        const trigger = { trigger_type: 'recurring', start_after: '2026-11-20T00:00:00Z', interval };
        await times(3, [400, 404], () => call('POST', '/script-profiles', scriptProfile(1, { trigger })));
      }
    };
    await world.server.expectHarmless(attack);
  });
});
