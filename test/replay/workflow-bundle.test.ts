import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildBundle, findBundle } from '../../workers/process/workflow-bundle.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-bundle-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('workflow bundle', () => {
  it('is built once, found afterwards, and replaces older ones', async () => {
    await writeFile(join(directory, 'workflows-0123456789abcdef.js'), '');
    expect(findBundle(directory)).toBeNull();
    const built = await buildBundle(undefined, directory);
    expect(findBundle(directory)).toEqual(built);
    expect(await buildBundle(undefined, directory)).toEqual(built);
    expect(built.buildId).toMatch(/^[\da-f]{16}$/);
    expect(built.buildId).not.toBe(built.digest);
    expect(await readdir(directory)).toEqual([`workflows-${built.digest}.js`]);
    expect((await readFile(built.codePath)).every((byte) => byte < 0x80)).toBe(true);
  });

  it.each(['node:fs', 'pg', '@temporalio/client'])(
    'cannot be built from workflow code that imports %s',
    async (name) => {
      const workflowsPath = join(directory, 'forbidden.cjs');
      await writeFile(workflowsPath, `exports.bad = async () => require(${JSON.stringify(name)});`);
      await expect(
        bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => undefined) }),
      ).rejects.toThrow();
      await rm(workflowsPath);
    },
  );
});
