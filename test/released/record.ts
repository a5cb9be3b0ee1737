import { readFile } from 'node:fs/promises';
import { describeTree, writeRelease } from './manifest.ts';

/** `npm run record:release`: a step of every release. Fails when the version in package.json is recorded already. */
const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const file = await writeRelease(await describeTree(version)).catch((error: NodeJS.ErrnoException) => {
  const text =
    error.code === 'EEXIST' ? `${version} is released already: raise the version in package.json first` : error;
  console.error(String(text));
  process.exit(1);
});
console.log(`recorded ${file}`);
