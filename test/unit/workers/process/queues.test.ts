import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../../src/process/config.ts';
import { chooseQueues } from '../../../../workers/process/queues.ts';

describe('chooseQueues', () => {
  it('serves all queues without arguments', () => {
    expect(chooseQueues([])).toEqual(['fleet-activity', 'fleet-schedule', 'fleet-report']);
  });

  it('serves the queues that are named, in both forms, each once', () => {
    expect(chooseQueues(['--queues', 'fleet-schedule'])).toEqual(['fleet-schedule']);
    expect(chooseQueues(['--queues=fleet-activity, fleet-schedule,fleet-activity'])).toEqual([
      'fleet-activity',
      'fleet-schedule',
    ]);
  });

  it.each([[['--queues', 'nope']], [['--queues']], [['--other', 'x']], [['--queues', 'fleet-activity', 'x']]])(
    'rejects %j',
    (args) => {
      expect(() => chooseQueues(args)).toThrow(ConfigError);
    },
  );
});
