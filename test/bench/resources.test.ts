import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createResources } from '../../tools/bench/harness/resources.ts';

it('is released by every caller only when all of it has ended, newest first', async () => {
  const resources = createResources({});
  const folder = resources.folder('flotilla-bench-test-');
  const ended: string[] = [];
  resources.defer(() => void ended.push('first'));
  resources.defer(async () => {
    await setImmediate();
    ended.push('second');
  });
  const early = resources.release();
  await resources.release();
  expect(ended).toEqual(['second', 'first']);
  expect(existsSync(folder)).toBe(false);
  await early;
});
