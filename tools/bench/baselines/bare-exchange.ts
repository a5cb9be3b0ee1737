// A minimal server that stores agents' reports: bare Node HTTP, JSON.parse and one INSERT of all rows.
import { createServer } from 'node:http';
import pg from 'pg';

const { BENCH_DATABASE_URL: url, BENCH_PORT: port } = process.env;
const pool = new pg.Pool({ connectionString: url, max: 10 });
const INSERT = `insert into reported (computer_id, pid, name, state, start_time)
  select $1, t.* from unnest($2::int[], $3::text[], $4::text[], $5::bigint[]) t`;

interface Report {
  computer: number;
  messages: Array<{ pid: number; name: string; state: string; start: number }>;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { computer, messages } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Report;
    const columns = (['pid', 'name', 'state', 'start'] as const).map((key) =>
      messages.map((reported) => reported[key]),
    );
    pool
      .query({ name: 'reported', text: INSERT, values: [computer, ...columns] })
      .then(() => response.end('{}'))
      .catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        response.writeHead(500).end();
      });
  });
});
server.listen(Number(port), '127.0.0.1', () => process.send?.({ ready: true }));
process.on('disconnect', () => process.exit(0));
