import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findWebPage, nameWebPage } from '../../../../src/process/web-page.ts';
import { buildWebPage } from '../../../../tools/stack/web/build-page.ts';
import { temporaryDirectory } from '../../../support/common/process.ts';

let directory: string;
let sources: string;

beforeEach(async () => {
  vi.stubEnv('NODE_ENV', 'production');
  directory = join(await temporaryDirectory(), 'build');
  sources = await temporaryDirectory();
  await writeFile(join(sources, 'index.html'), '<html><script type="module" src="/main.js"></script></html>');
  await writeFile(join(sources, 'main.js'), `document.title = '${'x'.repeat(2000)}' + process.env.NODE_ENV;`);
});

afterEach(() => void vi.unstubAllEnvs());

describe('the build of the web page', () => {
  it('is found afterwards, compressed and for production, and replaces older ones', async () => {
    const other = ['web', 'workflows-0123456789abcdef.js'];
    for (const name of ['web-0123456789abcdef', ...other]) await mkdir(join(directory, name), { recursive: true });
    expect(findWebPage(directory)).toBeNull();
    const folder = await buildWebPage(directory, sources);
    expect(findWebPage(directory)).toBe(folder);
    expect((await readdir(directory)).sort()).toEqual([folder.slice(directory.length + 1), ...other].sort());
    const [script, ...variants] = (await readdir(join(folder, 'assets'))).sort();
    expect(variants).toEqual([`${script}.br`, `${script}.gz`]);
    const [code, br, gz] = await Promise.all(
      [script, ...variants].map((name) => readFile(join(folder, 'assets', name!))),
    );
    expect(String(code)).toContain('production');
    expect(brotliDecompressSync(br!)).toEqual(code);
    expect(gunzipSync(gz!)).toEqual(code);
    // What fits into a packet stays as it is.
    expect(await readdir(folder)).toEqual(['assets', 'index.html']);
  });

  it('is not repeated while it is up to date', async () => {
    await mkdir(nameWebPage(directory), { recursive: true });
    await writeFile(join(sources, 'main.js'), 'this is no code');
    expect(await buildWebPage(directory, sources)).toBe(nameWebPage(directory));
  });

  it('leaves the page of a process that was faster', async () => {
    const building = buildWebPage(directory, sources);
    await mkdir(nameWebPage(directory), { recursive: true });
    await writeFile(join(nameWebPage(directory), 'index.html'), 'theirs');
    const folder = await building;
    expect(await readFile(join(folder, 'index.html'), 'utf8')).toBe('theirs');
    expect(await readdir(directory)).toHaveLength(1);
  });

  it('leaves nothing behind when it fails', async () => {
    await writeFile(join(sources, 'main.js'), `import './missing.js';`);
    await expect(buildWebPage(directory, sources)).rejects.toThrow(/missing\.js/);
    expect(await readdir(directory)).toEqual([]);
    expect(findWebPage(directory)).toBeNull();
  });
});
