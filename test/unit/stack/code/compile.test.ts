import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { compileCode } from '../../../../tools/stack/code/compile.ts';
import { ENTRIES, nameCode, useCompiled } from '../../../../tools/stack/code/compiled-code.ts';
import { prepareCode } from '../../../../tools/stack/code/prepare-code.ts';
import type { DataDirectory } from '../../../../tools/stack/data-directory.ts';
import { PROJECT } from '../../../../tools/stack/topology/roles.ts';
import { temporaryDirectory } from '../../../support/common/process.ts';

const MAIN = `
import { pathToFileURL } from 'node:url';
import { Refused } from './one/refused.ts';
import { Refused as Other } from './two/refused.ts';
const url: string = import.meta.url;
console.log(JSON.stringify({ at: import.meta.dirname, url, names: [Refused.name, Other.name] }));
`;

let project: string;
let folder: string;

beforeEach(async () => {
  project = await temporaryDirectory();
  folder = nameCode('build', join(project, 'build'));
  for (const name of ['one', 'two']) {
    await mkdir(join(project, name));
    await writeFile(join(project, name, 'refused.ts'), 'export class Refused extends Error {}');
  }
  await writeFile(join(project, 'main.ts'), MAIN);
});

describe('compiled code', () => {
  it('finds what belongs to its sources, and its classes keep their names', async () => {
    await compileCode(folder, ['main.ts'], project);
    const output = execFileSync(process.execPath, [join(folder, 'main.ts.js')], { encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual({
      at: project,
      url: `file://${project}/main.ts`,
      names: ['Refused', 'Refused'],
    });
  });

  it('takes one byte for each character in memory', async () => {
    await writeFile(join(project, 'main.ts'), `// “quoted”\nconsole.log('→');`);
    await compileCode(folder, ['main.ts'], project);
    expect((await readFile(join(folder, 'main.ts.js'))).every((byte) => byte < 0x80)).toBe(true);
    const output = execFileSync(process.execPath, [join(folder, 'main.ts.js')], { encoding: 'utf8' });
    expect(output).toBe('→\n');
  });

  it('is not made again, and is left as a process that was faster made it', async () => {
    const compiling = compileCode(folder, ['main.ts'], project);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'main.ts.js'), 'theirs');
    await compiling;
    await compileCode(folder, ['missing.ts'], project);
    expect(await readFile(join(folder, 'main.ts.js'), 'utf8')).toBe('theirs');
    expect(await readdir(join(project, 'build'))).toHaveLength(1);
  });

  it('replaces the oldest, and nothing else', async () => {
    const old = ['code-1', 'code-2', 'code-3'].map((name) => name.padEnd('code-0123456789abcdef'.length, '0'));
    for (const [index, name] of [...old, 'web-0123456789abcdef'].entries()) {
      await mkdir(join(project, 'build', name), { recursive: true });
      await utimes(join(project, 'build', name), index + 1, index + 1);
    }
    await compileCode(folder, ['main.ts'], project);
    const left = ['code-2', 'code-3', 'web-0'].map((start) => expect.stringMatching(`^${start}`));
    const names = await readdir(join(project, 'build'));
    expect(names.filter((name) => !folder.endsWith(name)).sort()).toEqual(left);
    expect(names).toHaveLength(left.length + 1);
  });

  it('leaves nothing behind when it cannot be made', async () => {
    await writeFile(join(project, 'main.ts'), `import './missing.ts';`);
    await expect(compileCode(folder, ['main.ts'], project)).rejects.toThrow(/missing\.ts/);
    expect(await readdir(join(project, 'build'))).toEqual([]);
  });

  it('takes the place of its sources in a command, as long as it is there', async () => {
    const command = ['--max-semi-space-size=2', 'workers/main.ts', '--queues', 'fleet-report'];
    expect(useCompiled(command, null)).toEqual(command);
    expect(useCompiled(command, join(project, 'removed'))).toEqual(command);
    expect(useCompiled(['other.ts'], project)).toEqual(['other.ts']);
    const [warning, option, main, ...rest] = useCompiled(command, project);
    expect([warning, option, ...rest]).toEqual([
      '--disable-warning=DEP0169',
      '--max-semi-space-size=2',
      '--queues',
      'fleet-report',
    ]);
    expect(join(PROJECT, main!)).toBe(join(project, 'workers/main.ts.js'));
    expect(ENTRIES).toContain('workers/main.ts');
  });
});

describe('the code at a start', () => {
  async function prepare(code: string, signal = new AbortController().signal) {
    const reported: string[] = [];
    const context = {
      data: { log: (name: string) => join(project, `${name}.log`) } as DataDirectory,
      env: {},
      report: (message: string) => void reported.push(message),
    };
    // `-e CODE -- FOLDER`: the folder is an argument of the code.
    const found = await prepareCode(context, folder, signal, ['-e', code, '--']);
    return { found, reported };
  }
  const MAKES = 'require("node:fs").mkdirSync(process.argv[1], { recursive: true })';

  it('is compiled when it is not there', async () => {
    expect(await prepare(MAKES)).toEqual({ found: folder, reported: ['the code is being compiled'] });
    expect(await prepare('process.exit(1)')).toEqual({ found: folder, reported: [] });
  });

  it('runs as sources with the reason when it cannot be compiled', async () => {
    const { found, reported } = await prepare('process.stderr.write("no such package"); process.exit(1)');
    expect(found).toBeNull();
    expect(reported[1]).toMatch(/^the sources run, because they could not be compiled: .*no such package/s);
  });

  it('does not delay the end of a start', async () => {
    const { found, reported } = await prepare('setTimeout(() => undefined, 60_000)', AbortSignal.timeout(200));
    expect({ found, reported }).toEqual({ found: null, reported: ['the code is being compiled'] });
  });
});
