import { parseArgs } from 'node:util';
import { migrate, openPersistence } from '../../../src/persistence/orm/orm.ts';
import { generateActivities } from './activities.ts';
import { generateComputers } from './computers.ts';

const USAGE = `npm run bench:data -- --database URL [--account NAME] [--computers N] [--activities N] [--seed N]

Fills an account (standalone when none is named) with N believable computers (100,000), beside those it has, and with N
activities of the last year on all of them (none).`;

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: process.env['FLOTILLA_DATABASE_URL'] ?? '' },
    account: { type: 'string', default: 'standalone' },
    computers: { type: 'string', default: '100000' },
    activities: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help || values.database === '') {
  console.log(USAGE);
  process.exit(values.help ? 0 : 1);
}
const wrong = (['computers', 'activities', 'seed'] as const).filter((name) => !/^\d{1,9}$/.test(values[name]));
if (wrong.length > 0) {
  console.error(wrong.map((name) => `--${name} must be a whole number`).join('\n'));
  process.exit(1);
}
const persistence = await openPersistence({ url: values.database, poolSize: 2, applicationName: 'generator' });
try {
  await migrate(persistence);
  const [account] = await persistence.db.query<{ id: number }>('select id from account where name = $1', [
    values.account,
  ]);
  if (!account) throw new Error(`there is no account ${values.account}`);
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  const common = {
    accountId: account.id,
    seed: Number(values.seed),
    now: new Date(),
    progress: (text: string) => process.stderr.write(`${seconds()} s: ${text}\n`),
  };
  const [computers, activities] = [Number(values.computers), Number(values.activities)];
  if (computers > 0) {
    const { first, last } = await generateComputers(persistence.db, { ...common, computers });
    console.log(`computers ${first} to ${last} in ${seconds()} s`);
  }
  if (activities > 0) {
    await generateActivities(persistence.db, { ...common, activities });
    console.log(`${activities} activities in ${seconds()} s`);
  }
} finally {
  await persistence.close();
}
