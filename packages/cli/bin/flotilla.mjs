#!/usr/bin/env node
// JavaScript that old versions of Node can read too: they have to say what is missing.
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `flotilla needs Node 22.18 or newer; this is ${process.versions.node}. ` +
      'Run it as "npx flotilla" in the project folder: npm ci brings Node 24 along for Linux, and npx uses it.\n',
  );
  process.exit(2);
}

// Compiled code of earlier runs spares half of the time that loading takes.
const base = process.env.XDG_CACHE_HOME ?? '';
module.enableCompileCache(
  process.env.NODE_COMPILE_CACHE ?? join(isAbsolute(base) ? base : join(homedir(), '.cache'), 'flotilla', 'compiled'),
);
const { run } = await import('../src/run.ts');

// A reader such as head that has seen enough ends the program quietly.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

// Not process.exit: what is still being written to a pipe would be lost.
const { env, stdin, stdout, stderr } = process;
process.exitCode = await run(process.argv.slice(2), { env, stdin, stdout, stderr });
