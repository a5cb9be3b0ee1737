import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { DomainError } from '../../src/domain/common/errors.ts';
import { ConfigError } from '../../src/process/config.ts';
import { resetPassword } from '../../src/services/identity/login/password-change.service.ts';
import { withDatabase } from './database/with-database.ts';
import { generatePassword } from './secrets.ts';
import { StackError } from './stack-error.ts';

const HELP = `npm run reset-password -- EMAIL [--stdin] [--keep-access-keys]

Gives the person with this email address a new password, prints it, and ends all of their tokens and access keys.

  --stdin             take the new password from the first line of standard input, and do not print it
  --keep-access-keys  leave the access keys as they are
  --help              this text

Works on FLOTILLA_DATABASE_URL, else on the Flotilla in the project or in FLOTILLA_DATA_DIR, running or not.`;

interface Arguments {
  email: string;
  fromInput: boolean;
  keepAccessKeys: boolean;
}

/** @returns null when only help was requested */
function readArguments(args: string[]): Arguments | null {
  try {
    const options = {
      stdin: { type: 'boolean' },
      'keep-access-keys': { type: 'boolean' },
      help: { type: 'boolean' },
    } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (values.help) return null;
    const [email, ...more] = positionals;
    if (email === undefined || more.length > 0) throw new Error('Name one email address.');
    return { email, fromInput: values.stdin ?? false, keepAccessKeys: values['keep-access-keys'] ?? false };
  } catch (error) {
    throw new StackError(`${(error as Error).message}\n\n${HELP}`);
  }
}

async function main(env: NodeJS.ProcessEnv, args: string[]): Promise<void> {
  const wish = readArguments(args);
  if (!wish) return print(HELP);
  const given = wish.fromInput ? ((await text(process.stdin)).split(/\r?\n/)[0] ?? '') : null;
  const { email, password } = await withDatabase('flotilla-reset-password', env, async ({ db }, { identity }) => {
    const { minCharacters, strong } = identity.passwords;
    const password = given ?? generatePassword(minCharacters);
    const policy = { minCharacters, strong: strong && given !== null };
    const { keepAccessKeys } = wish;
    return { email: await resetPassword(db, { email: wish.email, password, policy, keepAccessKeys }), password };
  });
  const shown = given === null ? `\n  Password  ${password}` : '';
  const ended = wish.keepAccessKeys ? 'tokens' : 'tokens and access keys';
  print(`The password of ${email} is new, and all ${ended} of this person have ended.${shown}`);
}

function print(message: string): void {
  process.stdout.write(`${message}\n`);
}

try {
  await main(process.env, process.argv.slice(2));
} catch (error) {
  process.exitCode = 1;
  const isPlain = error instanceof StackError || error instanceof DomainError || error instanceof ConfigError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(isPlain ? `${message}\n` : `The password was not changed: ${message}\n`);
}
