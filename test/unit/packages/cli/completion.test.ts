import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInProcess } from '../../../support/cli/in-process.ts';
import { temporaryDirectory } from '../../../support/common/process.ts';

const PROGRAM = resolve('packages/cli/bin/flotilla.mjs');
const complete = async (...words: string[]) =>
  (await runInProcess(['__complete', ...words])).stdout.split('\n').filter((word) => word !== '');

describe('completion', () => {
  it('offers commands, subcommands and options', async () => {
    expect(await complete('')).toEqual(expect.arrayContaining(['computers', 'snaps', 'login']));
    expect(await complete('comp')).toEqual(['computers', 'completion']);
    expect(await complete('snaps', 'in')).toEqual(['install']);
    expect(await complete('snaps', 'install', 'hello', '--wa')).toEqual(['--wait']);
    expect(await complete('snaps', 'install', '--outp')).toEqual(['--output']);
  });

  it('offers the values of options and arguments', async () => {
    expect(await complete('computers', 'list', '-o', '')).toEqual(['table', 'json', 'ndjson', 'csv']);
    expect(await complete('completion', 'b')).toEqual(['bash']);
    expect(await complete('computers', 'list', '-q', '')).toEqual([]);
  });

  it('works in bash', async () => {
    const directory = await temporaryDirectory();
    const file = join(directory, 'flotilla');
    writeFileSync(file, `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`);
    chmodSync(file, 0o755);
    const script = `eval "$(flotilla completion bash)"
      COMP_WORDS=(flotilla snaps re) COMP_CWORD=2
      _flotilla
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...process.env, PATH: `${directory}:${process.env['PATH']}` };
    expect(execFileSync('bash', ['-c', script], { env, encoding: 'utf8' })).toBe('remove\nrefresh\n');
  });

  it.each(['zsh', 'fish'])('is printed for %s', async (shell) => {
    const { code, stdout } = await runInProcess(['completion', shell]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('flotilla __complete') });
  });
});
