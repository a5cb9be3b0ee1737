import pg from 'pg';
import type { BareCommand, BareReply, BareStatement } from '../lists/list-case.ts';

// Columns stay text: nothing is parsed that is not used.
const AS_TEXT = { getTypeParser: () => (value: string) => value };

const client = new pg.Client({ connectionString: process.env['BENCH_DATABASE_URL'] });
await client.connect();

async function once(statements: readonly BareStatement[]): Promise<void> {
  let ids: unknown[] = [];
  for (const [index, { text, values, takesIds }] of statements.entries()) {
    const query = {
      text,
      values: takesIds ? [...values, ids] : [...values],
      types: AS_TEXT,
      rowMode: 'array' as const,
    };
    const { rows } = await client.query<unknown[]>(query);
    if (index === 0) ids = rows.map((row) => row[0]);
  }
}

async function execute({ statements, count }: BareCommand): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const from = performance.now();
    await once(statements);
    times.push(performance.now() - from);
  }
  return times;
}

process.on('message', (command: BareCommand) => {
  execute(command).then(
    (times) => process.send?.({ times } satisfies BareReply),
    (error: unknown) => process.send?.({ error: String(error) } satisfies BareReply),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
