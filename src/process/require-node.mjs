// Preloaded by every npm script that runs our code: MikroORM and native TypeScript need Node 22.18 or newer, and an older one fails unreadably.
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Flotilla needs Node 22.18 or newer; this is ${process.versions.node}. ` +
      'Run it by its npm scripts (npm start, npm test, ...): npm ci brings Node 24 along for Linux.\n',
  );
  process.exit(1);
}

// Compiled code of earlier starts spares a third of the work of a start; processes started from here inherit the place.
const base = process.env.XDG_CACHE_HOME ?? '';
process.env.NODE_COMPILE_CACHE ||= join(isAbsolute(base) ? base : join(homedir(), '.cache'), 'flotilla', 'compiled');
module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
