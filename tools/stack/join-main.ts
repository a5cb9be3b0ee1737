import { type JoiningRole, joinStack } from './join.ts';

/**
 * Loaded before `npm run api`, `gateway`, `worker` and `fleet`: without settings of their own they join the embedded
 * stack that runs on the data directory.
 */
const ROLES: ReadonlyArray<[script: RegExp, role: JoiningRole]> = [
  [/\bworkers\/main\.ts$/, 'worker'],
  [/\btools\/simulator\/main\.ts$/, 'fleet'],
  [/\bsrc\/server\/main\.ts$/, 'api'],
];

const [, script = '', ...args] = process.argv;
const [, kind = 'api'] = ROLES.find(([pattern]) => pattern.test(script)) ?? [];
const role = kind === 'api' && args.includes('--gateway-only') ? 'gateway' : kind;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

try {
  const joined = await joinStack(role, args, process.env, print);
  if (joined) {
    Object.assign(process.env, joined.settings);
    process.argv.push(...joined.args);
    print(joined.message);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
